package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"notifier/internal/bot"
	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/telegram"
	"notifier/internal/telegram/updates"
)

// ears are the parts that hear what customers do in Telegram.
type ears struct {
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

// addEars wires the way in, unless nobody is to listen.
func (h *house) addEars(client *telegram.Client) error {
	if h.Updates == config.UpdatesOff {
		return nil
	}
	e := &ears{
		inbox: updates.NewInbox(updates.InboxOptions{
			DB: h.db, Client: client, Log: h.log, Committed: h.wake,
			Handler: bot.New(bot.Options{Outbox: h.box, Orders: h.book, StaffChat: h.StaffChatID}),
			Received: func(k updates.Kind) { h.metrics.Received(string(k)) },
		}),
		menu: &updates.MenuKeeper{DB: h.db, Store: h.box, Client: client, Menu: bot.Menu(h.Locale), Log: h.log},
	}
	h.ears = e
	if h.Updates == config.UpdatesPolling {
		e.poller = updates.NewPoller(updates.PollerOptions{Client: client, Inbox: e.inbox, Hold: h.mayListen, Log: h.log})
		return nil
	}
	var err error
	e.webhook, err = updates.NewWebhook(updates.WebhookOptions{
		Client: client, Inbox: e.inbox, URL: h.WebhookURL, Secret: h.WebhookSecret, Log: h.log,
	})
	if err != nil {
		return &config.Error{Name: "NOTIFIER_WEBHOOK_SECRET", Reason: err.Error()}
	}
	if h.WebhookListen == "" {
		h.api.MountWebhook(e.webhook)
	}
	return nil
}

// mayListen says why Telegram must not be asked for updates at present. A copy would take from the
// original what customers do, and confirm it.
func (h *house) mayListen(ctx context.Context) error {
	machine, inode, err := h.db.Place()
	if err != nil {
		return err
	}
	return h.db.Read(ctx, func(tx database.Tx) error {
		if err := h.box.CheckIdentity(tx, h.client.Load().ID()); err != nil {
			return err
		}
		copied, _, err := h.box.IsCopy(tx, machine, inode)
		if err == nil && copied {
			err = errors.New("this database is a copy: nothing is received until somebody resumes it")
		}
		return err
	})
}

// listen takes updates in until ctx ends. Only the holder of the sender's lock does.
func (h *house) listen(ctx context.Context) error {
	if h.ears == nil {
		return nil
	}
	var all errgroup.Group
	if h.ears.poller != nil {
		all.Go(func() error { h.ears.poller.Run(ctx); return nil })
	}
	all.Go(func() error {
		if !h.awaitLeave(ctx) {
			return nil
		}
		if h.ears.webhook != nil {
			h.ears.webhook.Run(ctx)
		}
		h.ears.menu.Run(ctx)
		return nil
	})
	return all.Wait()
}

// awaitLeave waits until Telegram may be told something about updates, or ctx ends.
func (h *house) awaitLeave(ctx context.Context) bool {
	changes, stop := h.db.Watch()
	defer stop()
	told := false
	for {
		err := h.mayListen(ctx)
		if err == nil {
			return true
		}
		if !told && ctx.Err() == nil {
			h.log.Warn("updates are not received", "reason", err)
			told = true
		}
		timer := time.NewTimer(keepEvery)
		select {
		case <-changes:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// takeWaiting takes the updates that wait once, for a pass of system cron. That it cannot is no
// reason not to send.
func (h *house) takeWaiting(ctx context.Context) {
	if h.ears == nil || h.ears.poller == nil {
		return
	}
	if err := h.mayListen(ctx); err != nil {
		return // sending fails for the same reason, and says it
	}
	if _, err := h.ears.poller.Once(ctx); err != nil && ctx.Err() == nil {
		h.log.Warn("taking updates", "err", err)
		return
	}
	if err := h.ears.menu.Set(ctx); err != nil && ctx.Err() == nil {
		h.log.Warn("the commands menu is not set", "err", err)
	}
}

// openWebhook adds the webhook's own door to the API's, if it has one.
func (h *house) openWebhook(api door) ([]door, error) {
	if h.ears == nil || h.ears.webhook == nil || h.WebhookListen == "" {
		return []door{api}, nil
	}
	l, err := net.Listen("tcp", h.WebhookListen)
	if err != nil {
		return nil, fmt.Errorf("%w\nNOTIFIER_WEBHOOK_LISTEN chooses another address", err)
	}
	mux := http.NewServeMux()
	mux.Handle(config.WebhookPath, h.ears.webhook)
	return []door{api, {l, httpapi.NewServer(mux, h.log)}}, nil
}
