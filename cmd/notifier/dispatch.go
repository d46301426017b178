package main

import "context"

type dispatchCmd struct {
	UntilEmpty bool `help:"Make passes until nothing is due."`
}

// Run sends what is due.
func (c *dispatchCmd) Run(ctx context.Context, p *program) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	log := newServiceLog(p.stderr, s.LogLevel, s.LogFormat)
	defer log.close()
	a, err := p.openExisting(ctx, s, log.Logger)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.AddSender(); err != nil {
		return err
	}
	return a.Dispatch(ctx, c.UntilEmpty, p.stdout)
}
