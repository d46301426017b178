package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// bulk chooses many messages or chats for one action.
type bulk struct {
	State  string `help:"All that are in this state."`
	Reason string `help:"Of these, only those with this reason, such as blocked or expired."`
	Since  string `help:"Of these, only those that are so since this time (RFC 3339)." placeholder:"TIME"`
	DryRun bool   `help:"Only say how many there are."`
}

// check says whether either one or many are chosen, and many by a state that fits.
func (b bulk) check(one bool, what string, states ...string) error {
	others := b.Reason != "" || b.Since != "" || b.DryRun
	switch {
	case one && (b.State != "" || others):
		return fmt.Errorf("give either %s or --state, not both", what)
	case !one && b.State == "":
		return fmt.Errorf("give %s, or choose many with --state %s", what, strings.Join(states, "|"))
	case !one && !slices.Contains(states, b.State):
		return fmt.Errorf("--state must be one of %s", strings.Join(states, ", "))
	}
	if b.Since != "" {
		if _, err := time.Parse(time.RFC3339, b.Since); err != nil {
			return fmt.Errorf("--since must be a time such as 2026-11-30T15:04:05Z, not %q", b.Since)
		}
	}
	return nil
}

func (b bulk) request(target, key string) apiRequest {
	body := map[string]any{"state": b.State, "dryRun": b.DryRun}
	if b.Reason != "" {
		body["reason"] = b.Reason
	}
	if b.Since != "" {
		body["since"] = b.Since
	}
	return apiRequest{method: http.MethodPost, target: target, body: body, key: key, options: options{
		"/reason": "--reason", "/header/Idempotency-Key": "--key",
	}}
}

// count tells how many it was.
func (b bulk) count(p *program, what, done string) func(object) error {
	if b.DryRun {
		done = "would be " + done
	}
	return func(a object) error {
		_, err := fmt.Fprintf(p.stdout, "%s %s %s.\n", a.text("count"), what, done)
		return err
	}
}
