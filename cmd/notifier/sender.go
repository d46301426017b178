package main

import (
	"context"
	"fmt"
	"net/http"
)

type senderShowCmd struct{ asking }

// Run shows how the sender stands.
func (c *senderShowCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodGet, target: "/sender"}, showSender(p))
}

type senderReleaseCmd struct{ asking }

// Run lifts the gate of the whole bot.
func (c *senderReleaseCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodPost, target: "/sender/release"}, showSender(p))
}

type pauseCmd struct{ asking }

// Run pauses the sender.
func (c *pauseCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodPost, target: "/sender/pause"}, showSender(p))
}

type resumeCmd struct{ asking }

// Run ends a pause.
func (c *resumeCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodPost, target: "/sender/resume"}, showSender(p))
}

func showSender(p *program) func(answer) error {
	return func(a answer) error {
		line := "The sender is " + a.text("state")
		if reason := a.text("reason"); reason != "" {
			line += ": " + reason
		}
		if until := a.text("until"); until != "" {
			line += ", until " + until
		}
		_, err := fmt.Fprintln(p.stdout, line+".")
		return err
	}
}
