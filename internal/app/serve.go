package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/outbox"
)

// ServeOptions say how a service begins.
type ServeOptions struct {
	Paused       bool // with the sender paused
	AcceptNewBot bool // with another bot than the one the database has sent with
	Log          *slog.Logger
	Banner       io.Writer    // is told the addresses, the database and the sender's state
	DroppedLines func() int64 // how many lines of the log were not written; nil: none
	Supervisor   Supervisor
}

// Serve is the service with these settings, until ctx ends. Once it is wired it answers HTTP, and
// sends while it has the sender's lock.
func Serve(ctx context.Context, s config.Settings, o ServeOptions) error {
	a, err := New(ctx, s, o.Log, o.forNew()...)
	if err != nil {
		return unlessEnding(ctx, err)
	}
	defer a.Close()
	endpoints, err := a.open(ctx, o)
	if err == nil {
		err = a.banner(ctx, o.Banner, endpoints)
	}
	if err != nil {
		closeAll(endpoints)
		return unlessEnding(ctx, err)
	}
	told := make(chan struct{})
	go func() { defer close(told); a.report(ctx, o.Supervisor) }()
	err = a.serve(ctx, endpoints...)
	if ctx.Err() != nil {
		<-told
	}
	return err
}

func (o ServeOptions) forNew() []Option {
	if o.DroppedLines == nil {
		return nil
	}
	return []Option{WithDroppedLines(o.DroppedLines)}
}

// ServeAt answers HTTP at one address, and sends, until ctx ends.
func (a *App) ServeAt(ctx context.Context, l net.Listener) error {
	return a.serve(ctx, endpoint{l, httpapi.NewServer(a.api, a.log)})
}

// unlessEnding is the error of a start, or nothing when that was broken off by the end of ctx:
// whatever it was doing then, it was told to end.
func unlessEnding(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whatever the start was doing, it was told to end
	}
	return err
}

// open readies the sender and the endpoints. Those it returns are open, with an error too.
func (a *App) open(ctx context.Context, o ServeOptions) ([]endpoint, error) {
	if err := a.AddSender(); err != nil {
		return nil, err
	}
	if o.AcceptNewBot {
		if err := a.acceptBot(ctx); err != nil {
			return nil, err
		}
	}
	if o.Paused {
		err := a.db.Write(ctx, func(tx database.Tx) error { return a.box.Pause(tx, time.Now()) })
		if err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", a.settings.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w\nNOTIFIER_LISTEN chooses another address", err)
	}
	first := endpoint{l, httpapi.NewServer(a.api, a.log)}
	endpoints, err := a.openWebhook(first)
	if err != nil {
		return []endpoint{first}, err
	}
	return endpoints, nil
}

func closeAll(endpoints []endpoint) {
	for _, d := range endpoints {
		_ = d.listener.Close()
	}
}

// endpoint is one address at which HTTP is served.
type endpoint struct {
	listener net.Listener
	server   *http.Server
}

// banner tells where everything is.
func (a *App) banner(ctx context.Context, w io.Writer, endpoints []endpoint) error {
	sender, err := a.senderLine(ctx)
	if err != nil {
		return err
	}
	guard := "API key needed"
	if a.settings.APIKey.Reveal() == "" {
		guard = "no API key: programs on this machine only"
	}
	in := a.settings.Updates
	if len(endpoints) > 1 {
		in += " at " + endpoints[1].listener.Addr().String()
	}
	// That nobody reads it is no reason not to serve.
	_, _ = fmt.Fprintf(w, "notifier %s\n  API       http://%s (%s)\n  database  %s\n  Telegram  %s (updates: %s)\n  sender    %s\n",
		Version(), endpoints[0].listener.Addr(), guard, a.db.Path(), a.settings.TelegramURL, in, sender)
	return nil
}

// errDrain says that calls under way did not end in time; their attempts stay open on disk.
var errDrain = errors.New("the calls under way did not end within NOTIFIER_SHUTDOWN_TIMEOUT; the next start treats them as uncertain")

// serve answers HTTP at its endpoints and sends, until ctx ends; then it finishes what is under way.
func (a *App) serve(ctx context.Context, endpoints ...endpoint) error {
	work, ctx := errgroup.WithContext(ctx)
	for _, d := range endpoints {
		work.Go(func() error {
			if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve HTTP: %w", err)
			}
			return nil
		})
	}
	work.Go(func() error { return a.send(ctx) })
	work.Go(func() error {
		<-ctx.Done()
		a.log.Info("ending: what is under way is finished first")
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.settings.ShutdownTimeout)
		defer cancel()
		var errs []error
		for _, d := range endpoints {
			errs = append(errs, d.server.Shutdown(last))
		}
		return errors.Join(errs...)
	})
	return a.drain(ctx, work)
}

// drain waits for all work, and after the end of ctx no longer than the shutdown timeout.
func (a *App) drain(ctx context.Context, work *errgroup.Group) error {
	over := make(chan error, 1)
	go func() { over <- work.Wait() }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	patience := time.NewTimer(a.settings.ShutdownTimeout)
	defer patience.Stop()
	select {
	case err := <-over:
		return err
	case <-patience.C:
	}
	if d := a.sender.Load(); d != nil && d.Trouble() != "" {
		return fmt.Errorf("ended after NOTIFIER_SHUTDOWN_TIMEOUT: %s; the next start takes these messages for uncertain and sends each once more at most", d.Trouble())
	}
	return errDrain
}

// send waits for the sender's lock, and then sends until ctx ends. When the lock is lost it waits
// for it again.
func (a *App) send(ctx context.Context) error {
	for {
		err := a.sendOnce(ctx)
		if !errors.Is(err, outbox.ErrReplaced) || ctx.Err() != nil {
			return err
		}
		a.log.Error("this process sends no more; it stands by", "err", err)
	}
}

// sendOnce sends from the time it gets the sender's lock until ctx ends or the lock is lost.
func (a *App) sendOnce(ctx context.Context) error {
	lock, err := a.db.Lock(ctx, func(other database.Holder) {
		a.log.Info("standby: another process sends; this one takes over when it ends", "sender", other.String())
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the process ends anyway, and the lock with it
	schedule, err := a.settings.DispatchTimes()
	if err != nil {
		return err
	}
	a.lock.Store(lock)
	defer a.lock.Store(nil)
	a.log.Info("this process sends")
	beside, ctx := errgroup.WithContext(ctx) // what else only the holder of the lock does
	beside.Go(func() error { return a.maintain(ctx) })
	beside.Go(func() error { return a.receive(ctx) })
	beside.Go(func() error { a.monitor().Run(ctx); return nil })
	beside.Go(func() error { return a.dispatch(ctx, schedule) })
	_, stop := a.db.Watch() // so that it is known whether the kernel tells
	stop()
	a.tellOfPolling()
	return beside.Wait()
}

// dispatch sends until ctx ends, or until the sender's lock is lost.
func (a *App) dispatch(ctx context.Context, schedule outbox.Schedule) error {
	l := &statusLog{Schedule: schedule, log: a.log}
	return a.sender.Load().Run(ctx, l, l.held)
}
