package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"notifier/internal/app"
	"notifier/internal/config"
	"notifier/internal/secret"
	"notifier/internal/telegram/sandbox"
)

type demoCmd struct {
	Once bool `help:"Print what happened and exit: 0 when all was as it should be, 1 when not."`
}

// errDemoOver ends the service and the sandbox of a demo --once.
var errDemoOver = errors.New("the demo is over")

// Run shows the service at work, on a database and a Bot API of its own. It reads no settings: a
// real token nearby must not be used.
func (c *demoCmd) Run(ctx context.Context, p *program) error {
	outliveReaders()
	dir, err := os.MkdirTemp("", "notifier-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the system's temporary folder
	service, err := listenNear("127.0.0.1:8080")
	if err != nil {
		return err
	}
	bots, err := listenNear("127.0.0.1:8081")
	if err != nil {
		return err
	}
	s := demoSettings(filepath.Join(dir, "demo.db"), service, bots)
	a, err := app.New(ctx, s, newLog(p.stderr, slog.LevelError, s.LogFormat))
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.AddSender(); err != nil {
		return err
	}
	box := sandbox.New(sandbox.Options{})
	script := &demoScript{program: p, box: box, url: "http://" + service.Addr().String(), boxURL: s.TelegramURL}

	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return serveSandbox(ctx, bots, box) })
	all.Go(func() error { return a.ServeAt(ctx, service) })
	all.Go(func() error {
		err := script.run(ctx)
		if err != nil && ctx.Err() != nil {
			return nil //nolint:nilerr // somebody has seen enough
		}
		if err != nil {
			return err
		}
		if c.Once {
			return errDemoOver
		}
		script.invite()
		return nil
	})
	if err := all.Wait(); !errors.Is(err, errDemoOver) {
		return err
	}
	return nil
}

// listenNear listens at the usual address, or at any free port when that is taken.
func listenNear(usual string) (net.Listener, error) {
	if l, err := net.Listen("tcp", usual); err == nil {
		return l, nil
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

func demoSettings(database string, service, bots net.Listener) config.Settings {
	s := config.Defaults()
	s.Token = secret.New("1:demo")
	s.Database = database
	s.Listen = service.Addr().String()
	s.TelegramURL = "http://" + bots.Addr().String()
	return s
}

// say prints a line of the script.
func (d *demoScript) say(format string, args ...any) { fmt.Fprintf(d.stdout, format+"\n", args...) }

// invite tells how to look around when the demo stays up.
func (d *demoScript) invite() {
	d.say("")
	d.say("The demo stays up until Ctrl-C. Look around:")
	d.say("  %s           the customers' chats: write, block, press Start", d.boxURL)
	d.say("  curl %s/orders/1", d.url)
	d.say("  curl %s/messages?state=dead", d.url)
	d.say("  curl -H 'Content-Type: application/json' -d '{\"chatId\":7900000001,\"text\":\"hello\"}' %s/messages", d.url)
}
