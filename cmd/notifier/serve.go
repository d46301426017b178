package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/outbox"
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
	if err := checkForServe(s); err != nil {
		return wrongSettings(err)
	}
	if c.PrintConfig {
		return s.Print(p.stdout)
	}
	log := newLog(p.stderr, s.LogLevel, s.LogFormat)
	config.WarnOfOpenFile(log, config.File)
	h, err := build(ctx, s, log)
	if err != nil {
		return unlessEnding(ctx, err)
	}
	defer h.close()
	doors, err := c.open(ctx, h)
	if err == nil {
		err = h.banner(ctx, p.stdout, doors)
	}
	if err != nil {
		closeAll(doors)
		return unlessEnding(ctx, err)
	}
	return h.serve(ctx, doors...)
}

// unlessEnding is the error of a start, or nothing when that was broken off by the end of ctx:
// whatever it was doing then, it was told to end.
func unlessEnding(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whatever the start was doing, it was told to end
	}
	return err
}

// open readies the sender and the doors. Those it returns are open, with an error too.
func (c *serveCmd) open(ctx context.Context, h *house) ([]door, error) {
	if _, err := h.addSender(c.AcceptNewBot); err != nil {
		return nil, err
	}
	if c.Paused {
		err := h.db.Write(ctx, func(tx database.Tx) error { return h.box.Pause(tx, time.Now()) })
		if err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", h.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w\nNOTIFIER_LISTEN chooses another address", err)
	}
	first := door{l, httpapi.NewServer(h.api, h.log)}
	doors, err := h.openWebhook(first)
	if err != nil {
		return []door{first}, err
	}
	return doors, nil
}

func closeAll(doors []door) {
	for _, d := range doors {
		_ = d.listener.Close()
	}
}

// door is where HTTP comes in.
type door struct {
	listener net.Listener
	server   *http.Server
}

// banner tells where everything is.
func (h *house) banner(ctx context.Context, w io.Writer, doors []door) error {
	f, err := h.find(ctx, time.Now())
	if err != nil {
		return err
	}
	sender, err := h.senderLine(f)
	if err != nil {
		return err
	}
	guard := "API key needed"
	if h.APIKey.Reveal() == "" {
		guard = "no API key: programs on this machine only"
	}
	in := h.Updates
	if len(doors) > 1 {
		in += " at " + doors[1].listener.Addr().String()
	}
	_, err = fmt.Fprintf(w, "notifier %s\n  API       http://%s (%s)\n  database  %s\n  Telegram  %s (updates: %s)\n  sender    %s\n",
		version(), doors[0].listener.Addr(), guard, h.db.Path(), h.TelegramURL, in, sender)
	return err
}

// errDrain says that calls under way did not end in time; their attempts stay open on disk.
var errDrain = errors.New("the calls under way did not end within NOTIFIER_SHUTDOWN_TIMEOUT; the next start treats them as uncertain")

// serve answers HTTP at its doors and sends, until ctx ends; then it finishes what is under way.
func (h *house) serve(ctx context.Context, doors ...door) error {
	work, ctx := errgroup.WithContext(ctx)
	for _, d := range doors {
		work.Go(func() error {
			if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve HTTP: %w", err)
			}
			return nil
		})
	}
	work.Go(func() error { return h.send(ctx) })
	work.Go(func() error {
		<-ctx.Done()
		h.log.Info("ending: what is under way is finished first")
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.ShutdownTimeout)
		defer cancel()
		var errs []error
		for _, d := range doors {
			errs = append(errs, d.server.Shutdown(last))
		}
		return errors.Join(errs...)
	})
	return h.drain(ctx, work)
}

// drain waits for all work, and after the end of ctx no longer than the shutdown timeout.
func (h *house) drain(ctx context.Context, work *errgroup.Group) error {
	over := make(chan error, 1)
	go func() { over <- work.Wait() }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	patience := time.NewTimer(h.ShutdownTimeout)
	defer patience.Stop()
	select {
	case err := <-over:
		return err
	case <-patience.C:
		return errDrain
	}
}

// send waits for the sender's lock, and then sends until ctx ends.
func (h *house) send(ctx context.Context) error {
	lock, err := h.db.Lock(ctx, func(other database.Holder) {
		h.log.Info("standby: another process sends; this one takes over when it ends", "sender", other.String())
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the process ends anyway, and the lock with it
	schedule, err := h.DispatchTimes()
	if err != nil {
		return err
	}
	h.sends.Store(true)
	defer h.sends.Store(false)
	h.log.Info("this process sends")
	beside, ctx := errgroup.WithContext(ctx) // what else only the holder of the lock does
	beside.Go(func() error { return h.keep(ctx) })
	beside.Go(func() error { return h.listen(ctx) })
	beside.Go(func() error { h.monitor().Run(ctx); return nil })
	beside.Go(func() error { h.dispatch(ctx, schedule); return nil })
	return beside.Wait()
}

// dispatch sends until ctx ends.
func (h *house) dispatch(ctx context.Context, schedule outbox.Schedule) {
	t := &tidings{Schedule: schedule, log: h.log}
	h.sender.Load().Run(ctx, t, t.held)
}
