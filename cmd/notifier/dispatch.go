package main

import (
	"context"

	"notifier/internal/app"
)

type dispatchCmd struct {
	UntilEmpty bool `help:"Make passes until nothing is due."`
}

// Run sends what is due.
func (c *dispatchCmd) Run(ctx context.Context, p *program) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	a, err := app.New(ctx, s, newLog(p.stderr, s.LogLevel, s.LogFormat))
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.AddSender(false); err != nil {
		return err
	}
	return a.Dispatch(ctx, c.UntilEmpty, p.stdout)
}
