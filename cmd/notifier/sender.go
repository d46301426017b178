package main

import (
	"context"
	"fmt"
	"net/http"

	"notifier/internal/outbox"
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
	return c.ask(ctx, p, question{method: http.MethodPost, target: "/sender/pause", makes: true}, showSender(p))
}

type resumeCmd struct{ asking }

// Run ends a pause.
func (c *resumeCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodPost, target: "/sender/resume"}, showSender(p))
}

func showSender(p *program) func(answer) error {
	return func(a answer) error {
		_, err := fmt.Fprintln(p.stdout, senderWords(a))
		return err
	}
}

// senderWords say how the sender stands. That nothing holds it up does not mean that there is one.
func senderWords(a answer) string {
	const nobody = "No process sends for this database at present: start `notifier serve`."
	process, sends := a["process"].(map[string]any)
	if !sends && a.text("state") == outbox.SenderRunning {
		return nobody
	}
	words := "The sender is " + a.text("state")
	if reason := a.text("reason"); reason != "" {
		words += ": " + reason
	}
	if until := a.text("until"); until != "" {
		words += ", until " + until
	}
	if !sends {
		return words + ". " + nobody
	}
	holder := answer(process)
	if holder.text("pid") == "0" { // it has just taken the lock
		return words + "."
	}
	return fmt.Sprintf("%s (process %s on %s).", words, holder.text("pid"), holder.text("host"))
}
