package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"notifier/internal/bot"
	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/telegram"
	"notifier/internal/telegram/updates"
)

// receiver takes in what customers do in Telegram.
type receiver struct {
	inbox   *updates.Inbox
	poller  *updates.Poller  // or
	webhook *updates.Webhook // nil unless updates come by webhook
	menu    *updates.MenuKeeper
}

func updateKinds() []string {
	var kinds []string
	for _, k := range updates.Kinds() {
		kinds = append(kinds, string(k))
	}
	return kinds
}

// addReceiver wires the way in, unless updates are off.
func (a *App) addReceiver(client *telegram.Client) error {
	if a.settings.Updates == config.UpdatesOff {
		return nil
	}
	r := &receiver{
		inbox: updates.NewInbox(updates.InboxOptions{
			DB: a.db, Client: client, Log: a.log, Committed: a.wake,
			Handler:  bot.New(bot.Options{Outbox: a.box, Orders: a.book, StaffChat: a.settings.StaffChatID}),
			Received: func(k updates.Kind) { a.metrics.Received(string(k)) },
		}),
		menu: &updates.MenuKeeper{DB: a.db, Store: a.box, Client: client, Menu: bot.Menu(a.settings.Locale), Log: a.log},
	}
	a.receiver = r
	if a.settings.Updates == config.UpdatesPolling {
		r.poller = updates.NewPoller(updates.PollerOptions{Client: client, Inbox: r.inbox, Hold: a.mayReceive, Log: a.log})
		return nil
	}
	var err error
	r.webhook, err = updates.NewWebhook(updates.WebhookOptions{
		Client: client, Inbox: r.inbox, URL: a.settings.WebhookURL, Secret: a.settings.WebhookSecret, Log: a.log,
	})
	if err != nil {
		return &config.Error{Name: "NOTIFIER_WEBHOOK_SECRET", Reason: err.Error()}
	}
	if a.settings.WebhookListen == "" {
		a.api.MountWebhook(r.webhook, a.settings.WebhookPaths()...)
	}
	return nil
}

// mayReceive says why Telegram must not be asked for updates at present. A copy would take from the
// original what customers do, and confirm it.
func (a *App) mayReceive(ctx context.Context) error {
	machine, inode, err := a.db.Place()
	if err != nil {
		return err
	}
	return a.db.Read(ctx, func(tx database.Tx) error {
		if err := a.box.CheckIdentity(tx, a.client.Load().ID()); err != nil {
			return err
		}
		copied, _, err := a.box.IsCopy(tx, machine, inode)
		if err == nil && copied {
			err = errors.New("this database is a copy: nothing is received until somebody resumes it")
		}
		return err
	})
}

// receive takes updates in until ctx ends. Only the holder of the sender's lock does.
func (a *App) receive(ctx context.Context) error {
	if a.receiver == nil {
		return nil
	}
	var all errgroup.Group
	if a.receiver.poller != nil {
		all.Go(func() error { a.receiver.poller.Run(ctx); return nil })
	}
	all.Go(func() error {
		if !a.awaitLeave(ctx) {
			return nil
		}
		if a.receiver.webhook != nil {
			a.receiver.webhook.Run(ctx)
		}
		a.receiver.menu.Run(ctx)
		return nil
	})
	return all.Wait()
}

// awaitLeave waits until Telegram may be told something about updates, or ctx ends.
func (a *App) awaitLeave(ctx context.Context) bool {
	changes, stop := a.db.Watch()
	defer stop()
	told := false
	for {
		err := a.mayReceive(ctx)
		if err == nil {
			return true
		}
		if !told && ctx.Err() == nil {
			a.log.Warn("updates are not received", "reason", err)
			told = true
		}
		if !awaitChange(ctx, changes, maintainEvery) {
			return false
		}
	}
}

// takeWaiting takes the updates that wait once, for a pass of system cron. That it cannot is no
// reason not to send.
func (a *App) takeWaiting(ctx context.Context) {
	if a.receiver == nil || a.receiver.poller == nil {
		return
	}
	if err := a.mayReceive(ctx); err != nil {
		return // sending fails for the same reason, and says it
	}
	if _, err := a.receiver.poller.Once(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("taking updates", "err", err)
		return
	}
	if err := a.receiver.menu.Set(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("the commands menu is not set", "err", err)
	}
}

// openWebhook adds the webhook's own address to the API's, if it has one.
func (a *App) openWebhook(api endpoint) ([]endpoint, error) {
	if a.receiver == nil || a.receiver.webhook == nil || a.settings.WebhookListen == "" {
		return []endpoint{api}, nil
	}
	l, err := net.Listen("tcp", a.settings.WebhookListen)
	if err != nil {
		return nil, fmt.Errorf("%w\nNOTIFIER_WEBHOOK_LISTEN chooses another address", err)
	}
	return []endpoint{api, {l, httpapi.NewServer(a.webhookOnly(), a.log)}}, nil
}

// webhookOnly answers where updates come in, and nowhere else.
func (a *App) webhookOnly() http.Handler {
	paths := a.settings.WebhookPaths()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(paths, r.URL.Path) {
			http.NotFound(w, r)
			return
		}
		a.receiver.webhook.ServeHTTP(w, r)
	})
}

// notReceiving says why what customers do does not come in, or nothing. Only the process that
// receives knows.
func (a *App) notReceiving(now time.Time) string {
	if a.receiver == nil || !a.sends() {
		return ""
	}
	var s updates.Status
	if a.receiver.poller != nil {
		s = a.receiver.poller.Status(now)
	} else {
		s = a.receiver.webhook.Status(now)
	}
	if s.Code == updates.Receiving {
		return ""
	}
	return s.Detail
}
