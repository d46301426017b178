package doctor

import (
	"context"
	"time"

	"notifier/internal/config"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
)

// patience bounds each call to Telegram.
const patience = 15 * time.Second

// maxClockSkew is how far the clock may be off before nothing expires and nothing is purged.
const maxClockSkew = 5 * time.Minute

// checkTelegram asks Telegram who the bot is, what time it is, and where updates go.
func (e *examination) checkTelegram(ctx context.Context) {
	s := e.settings
	s.SendTimeout = min(s.SendTimeout, patience)
	client, err := e.Client(s)
	if err != nil {
		return // of the token, another check tells
	}
	defer client.Close()
	asked := time.Now()
	a := client.Identify(ctx)
	e.checkClock(a.Date, asked, time.Now())
	switch {
	case client.Username() != "":
		e.well("bot", "Telegram knows it as @%s", client.Username())
	case a.Verdict == outbox.BotStopped:
		e.bad("bot", "notifier setup", "Telegram refuses the token: %s", a.Detail)
		return
	default:
		e.bad("Telegram", e.mendAddress(), "it cannot be reached at %s: %s", e.settings.TelegramURL, a.Detail)
		return
	}
	e.checkUpdates(ctx, client)
}

// mendAddress shows what stands in the way. An outage is no reason to change a setting.
func (e *examination) mendAddress() string {
	return "curl -sS -o /dev/null " + quoted(e.settings.TelegramURL)
}

func (e *examination) checkClock(date, asked, answered time.Time) {
	if date.IsZero() {
		return
	}
	skew := answered.Sub(date)
	if early := asked.Sub(date); early.Abs() < skew.Abs() {
		skew = early
	}
	if skew.Abs() > maxClockSkew {
		e.bad("clock", "timedatectl set-ntp true", "this machine's is %v off Telegram's; until it is right, nothing expires and nothing is purged", skew.Round(time.Second).Abs())
		return
	}
	e.well("clock", "it agrees with Telegram's")
}

// checkUpdates looks for what keeps updates from coming in: they come one way only.
func (e *examination) checkUpdates(ctx context.Context, client *telegram.Client) {
	const check = "updates"
	info, reply := client.WebhookInfo(ctx)
	switch {
	case !reply.OK:
		e.bad(check, "notifier doctor", "Telegram does not say where updates go: %s", reply.Detail)
	case e.settings.Updates == config.UpdatesOff:
		e.well(check, "NOTIFIER_UPDATES is off: nobody can connect a chat by pressing Start")
	case e.settings.Updates == config.UpdatesPolling && info.URL != "":
		// The addresses of others may hold a secret, so it is not told.
		e.bad(check, "notifier dispatch", "a webhook is set, so polling gets nothing. A start of `notifier serve`, or one dispatch, removes it and keeps what waits")
	case e.settings.Updates == config.UpdatesPolling:
		e.well(check, "they are polled; %d wait", info.PendingUpdateCount)
	case info.URL != e.settings.WebhookURL:
		e.bad(check, "notifier serve", "the webhook is not set to NOTIFIER_WEBHOOK_URL; a start of the service sets it")
	case info.LastErrorMessage != "" && info.PendingUpdateCount > 0:
		e.bad(check, "notifier health", "Telegram cannot deliver to the webhook, and %d updates wait: %s", info.PendingUpdateCount, info.LastErrorMessage)
	default:
		e.well(check, "they come by webhook")
	}
}
