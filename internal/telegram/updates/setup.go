package updates

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"notifier/internal/telegram"
)

// setUp tells Telegram to send the updates to the webhook. Those that wait are kept.
func (h *Webhook) setUp(ctx context.Context) error {
	if h.Client.Username() == "" { // a command may name the bot
		h.Client.Identify(ctx)
	}
	tellOfWebhook(ctx, h.Client, h.Log, h.URL)
	reply := h.Client.SetWebhook(ctx, h.URL, h.Secret)
	if !reply.OK {
		h.health.failed("the webhook could not be set: "+reply.Detail, reply.Stopped())
		return &notYet{errors.New("set the webhook: " + reply.Detail), reply.Waits()}
	}
	h.health.succeeded(time.Now())
	h.set.Store(true)
	return nil
}

// tellOfWebhook logs that a webhook is about to go that is not ours: whoever set it hears nothing any
// more. Its path may hold a secret, so only the host is told.
func tellOfWebhook(ctx context.Context, c *telegram.Client, log *slog.Logger, ours string) {
	info, reply := c.WebhookInfo(ctx)
	if !reply.OK || info.URL == "" || info.URL == ours {
		return
	}
	host := "unknown"
	if u, err := url.Parse(info.URL); err == nil && u.Host != "" {
		host = u.Hostname()
	}
	log.Warn("a webhook that somebody set for this bot is taken away; what waits there comes here", "host", host)
}

// Run sets the webhook, trying until it is set or ctx ends.
func (h *Webhook) Run(ctx context.Context) {
	h.health.begin(time.Now())
	until(ctx, h.setUp, func(err error) { h.Log.Warn("the webhook is not set", "err", err) })
}

// Status says whether the webhook is set. Whether Telegram reaches it, only Telegram knows:
// telegram.Client.WebhookInfo asks.
func (h *Webhook) Status(now time.Time) Status {
	s := h.health.status(now)
	if h.set.Load() {
		return Status{Code: Receiving, Since: s.Since}
	}
	return s
}

// notYet is an error after which trying again may help, no sooner than after a time.
type notYet struct {
	err   error
	after time.Duration
}

func (e *notYet) Error() string { return e.err.Error() }
func (e *notYet) Unwrap() error { return e.err }

// until tries until it succeeds or ctx ends, with pauses that double. told hears the first error.
func until(ctx context.Context, try func(context.Context) error, told func(error)) {
	for step := 0; ctx.Err() == nil; step++ {
		err := try(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if step == 0 {
			told(err)
		}
		pause := ladder(step, firstPause, lastProbe)
		var later *notYet
		if errors.As(err, &later) {
			pause = max(pause, later.after)
		}
		sleep(ctx, pause)
	}
}

// detached is a context that the client's going away does not end: what was begun for its update
// is carried through.
func detached(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}
