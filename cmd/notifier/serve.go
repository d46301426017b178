package main

import (
	"context"
	"os"

	"notifier/internal/app"
	"notifier/internal/config"
)

type serveCmd struct {
	Paused       bool `help:"Begin with the sender paused; resume with notifier resume."`
	PrintConfig  bool `help:"Show the settings, without secrets, and exit."`
	AcceptNewBot bool `help:"Go on with another bot than the one this database has sent with."`
}

// Run is the service, until ctx ends.
func (c *serveCmd) Run(ctx context.Context, p *program) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	if err := app.Check(s); err != nil {
		return wrongSettings(err)
	}
	if c.PrintConfig {
		return s.Print(p.stdout)
	}
	log := newServiceLog(p.stderr, s.LogLevel, s.LogFormat)
	defer log.close()
	config.WarnOfOpenFile(log.Logger, p.source().File)
	return app.Serve(ctx, s, app.ServeOptions{
		Paused: c.Paused, AcceptNewBot: c.AcceptNewBot, Log: log.Logger, Banner: p.stdout, DroppedLines: log.dropped,
		Supervisor: app.NewSupervisor(p.environ, os.Getpid()),
	})
}
