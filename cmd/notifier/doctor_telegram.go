package main

import (
	"context"
	"time"

	"notifier/internal/config"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
)

// doctorPatience bounds each question to Telegram.
const doctorPatience = 15 * time.Second

// maxClockSkew is how far the clock may be off before nothing expires and nothing is purged.
const maxClockSkew = 5 * time.Minute

// checkTelegram asks Telegram who the bot is, what time it is, and where updates go.
func (d *doctor) checkTelegram(ctx context.Context) {
	h := d.house
	if h == nil { // without a database
		h = &house{Settings: d.settings}
	}
	h.SendTimeout = min(h.SendTimeout, doctorPatience)
	client := h.client.Load()
	if client == nil {
		var err error
		if client, err = telegram.New(telegram.Options{Token: h.ReadToken, URL: h.TelegramURL, Timeout: h.SendTimeout, Render: h.render}); err != nil {
			return // of the token, another check tells
		}
		defer client.Close()
	}
	asked := time.Now()
	a := client.Identify(ctx)
	d.checkClock(a.Date, asked, time.Now())
	switch {
	case client.Username() != "":
		d.well("bot", "Telegram knows it as @%s", client.Username())
	case a.Verdict == outbox.BotStopped:
		d.bad("bot", "notifier setup", "Telegram refuses the token: %s", a.Detail)
		return
	default:
		d.bad("Telegram", d.mendAddress(), "it cannot be reached at %s: %s", d.settings.TelegramURL, a.Detail)
		return
	}
	d.checkUpdates(ctx, client)
}

// mendAddress is what helps when nobody answers there: Telegram's own address, if it is another.
func (d *doctor) mendAddress() string {
	if d.settings.TelegramURL != telegram.DefaultURL {
		return d.mendSetting("TELEGRAM_API_URL")
	}
	return "curl -sS " + telegram.DefaultURL
}

func (d *doctor) checkClock(date, asked, answered time.Time) {
	if date.IsZero() {
		return
	}
	skew := answered.Sub(date)
	if early := asked.Sub(date); early.Abs() < skew.Abs() {
		skew = early
	}
	if skew.Abs() > maxClockSkew {
		d.bad("clock", "timedatectl set-ntp true", "this machine's is %v off Telegram's; until it is right, nothing expires and nothing is purged", skew.Round(time.Second).Abs())
		return
	}
	d.well("clock", "it agrees with Telegram's")
}

// checkUpdates looks for what keeps updates from coming in: they come one way only.
func (d *doctor) checkUpdates(ctx context.Context, client *telegram.Client) {
	const check = "updates"
	info, reply := client.WebhookInfo(ctx)
	switch {
	case !reply.OK:
		d.bad(check, "notifier doctor", "Telegram does not say where updates go: %s", reply.Detail)
	case d.settings.Updates == config.UpdatesOff:
		d.well(check, "NOTIFIER_UPDATES is off: nobody can connect a chat by pressing Start")
	case d.settings.Updates == config.UpdatesPolling && info.URL != "":
		// The addresses of others may hold a secret, so it is not told.
		d.bad(check, "notifier dispatch", "a webhook is set, so polling gets nothing. A start of `notifier serve`, or one dispatch, removes it and keeps what waits")
	case d.settings.Updates == config.UpdatesPolling:
		d.well(check, "they are polled; %d wait", info.PendingUpdateCount)
	case info.URL != d.settings.WebhookURL:
		d.bad(check, "notifier serve", "the webhook is not set to NOTIFIER_WEBHOOK_URL; a start of the service sets it")
	case info.LastErrorMessage != "" && info.PendingUpdateCount > 0:
		d.bad(check, "notifier health", "Telegram cannot deliver to the webhook, and %d updates wait: %s", info.PendingUpdateCount, info.LastErrorMessage)
	default:
		d.well(check, "they come by webhook")
	}
}
