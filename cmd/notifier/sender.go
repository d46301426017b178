package main

import (
	"context"
	"fmt"
	"net/http"

	"notifier/internal/outbox"
)

type senderShowCmd struct{ apiCommand }

// Run shows how the sender stands.
func (c *senderShowCmd) Run(ctx context.Context, p *program) error {
	return c.call(ctx, p, apiRequest{method: http.MethodGet, target: "/sender"}, showSender(p))
}

type senderReleaseCmd struct{ apiCommand }

// Run lifts the gate of the whole bot.
func (c *senderReleaseCmd) Run(ctx context.Context, p *program) error {
	return c.call(ctx, p, apiRequest{method: http.MethodPost, target: "/sender/release"}, showSender(p))
}

type pauseCmd struct{ apiCommand }

// Run pauses the sender.
func (c *pauseCmd) Run(ctx context.Context, p *program) error {
	return c.call(ctx, p, apiRequest{method: http.MethodPost, target: "/sender/pause"}, showSender(p))
}

type resumeCmd struct{ apiCommand }

// Run ends a pause.
func (c *resumeCmd) Run(ctx context.Context, p *program) error {
	return c.call(ctx, p, apiRequest{method: http.MethodPost, target: "/sender/resume"}, showSender(p))
}

func showSender(p *program) func(object) error {
	return func(a object) error {
		_, err := fmt.Fprintln(p.stdout, senderWords(a))
		return err
	}
}

// senderWords say how the sender stands. That nothing holds it up does not mean that there is one.
func senderWords(a object) string {
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
	holder := object(process)
	if holder.text("pid") == "0" { // it has just taken the lock
		return words + "."
	}
	return fmt.Sprintf("%s (process %s on %s).", words, holder.text("pid"), holder.text("host"))
}
