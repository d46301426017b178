package config

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"notifier/internal/telegram/ratelimit"
	"notifier/internal/telegram/syntax"
)

// leastKeyRetention is how long a shop may rely on an Idempotency-Key.
const leastKeyRetention = 30 * 24 * time.Hour

// NeedsKey is why a public address is refused without a key.
const NeedsKey = "without NOTIFIER_API_KEY must be a loopback address such as 127.0.0.1:8080"

// checkListen lets only this machine in as long as there is no key.
func (s Settings) checkListen() error {
	const name = "NOTIFIER_LISTEN"
	host, _, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return &Error{name, "must be ADDRESS:PORT, such as 127.0.0.1:8080"}
	}
	if s.APIKey.Reveal() != "" || host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return &Error{name, NeedsKey}
}

// checkKeys refuses an empty key beside a comma, which would let nobody in, or everybody.
func (s Settings) checkKeys() error {
	keys := strings.Split(s.APIKey.Reveal(), ",")
	if s.APIKey.Reveal() == "" || len(keys) <= 2 && !slices.ContainsFunc(keys, func(k string) bool { return strings.TrimSpace(k) == "" }) {
		return nil
	}
	return &Error{"NOTIFIER_API_KEY", "must be one key, or two that are separated by a comma"}
}

func (s Settings) checkRetention() error {
	var wrong []error
	for _, r := range []struct {
		name string
		kept time.Duration
	}{{"NOTIFIER_RETENTION_SENT", s.RetentionSent}, {"NOTIFIER_RETENTION_DEAD", s.RetentionDead}} {
		if r.kept < time.Hour {
			wrong = append(wrong, &Error{r.name, "must be at least 1h"})
		}
	}
	if s.RetentionKeys < leastKeyRetention {
		wrong = append(wrong, &Error{"NOTIFIER_RETENTION_KEYS", "must be at least 720h, so that a request that is repeated days later is still known"})
	}
	return errors.Join(wrong...)
}

// WebhookPath is the path of the address that Telegram sends updates to.
const WebhookPath = "/telegram/webhook"

// WebhookPaths are where updates come in: under the path of the public address, as a proxy passes it
// on, and under ours, for one that takes what comes before it away.
func (s Settings) WebhookPaths() []string {
	u, err := url.Parse(s.WebhookURL)
	if err != nil || u.Path == WebhookPath || !strings.HasPrefix(u.Path, "/") {
		return []string{WebhookPath}
	}
	return []string{WebhookPath, u.Path}
}

// What NOTIFIER_UPDATES can be.
const (
	UpdatesPolling = "polling"
	UpdatesWebhook = "webhook"
	UpdatesOff     = "off"
)

// checkUpdates holds the settings of the webhook against each other. A webhook without a secret
// would take updates from anybody.
func (s Settings) checkUpdates() error {
	ways := []string{UpdatesPolling, UpdatesWebhook, UpdatesOff}
	if !slices.Contains(ways, s.Updates) {
		return &Error{"NOTIFIER_UPDATES", "must be one of " + strings.Join(ways, ", ")}
	}
	if s.Updates != UpdatesWebhook {
		return nil
	}
	var wrong []error
	if u, err := url.Parse(s.WebhookURL); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		wrong = append(wrong, &Error{"NOTIFIER_WEBHOOK_URL", "must be the public https:// address that Telegram sends updates to"})
	} else if !strings.HasSuffix(u.Path, WebhookPath) {
		wrong = append(wrong, &Error{"NOTIFIER_WEBHOOK_URL", "must end in " + WebhookPath + ", where this service takes updates"})
	}
	if !syntax.IsWebhookSecret(s.WebhookSecret) {
		wrong = append(wrong, &Error{"NOTIFIER_WEBHOOK_SECRET", "must be " + syntax.WebhookSecret + ", such as the output of `openssl rand -hex 32`"})
	}
	if s.WebhookListen != "" {
		if _, _, err := net.SplitHostPort(s.WebhookListen); err != nil {
			wrong = append(wrong, &Error{"NOTIFIER_WEBHOOK_LISTEN", "must be ADDRESS:PORT, such as 127.0.0.1:8443"})
		}
	}
	return errors.Join(wrong...)
}

// checkRates names each rate that is wrong, and only that.
func (s Settings) checkRates() error {
	var wrong []error
	for _, r := range []struct {
		name, unit string
		given      float64
		perDay     float64 // how many units a day has: one call a day is the slowest
		use        func(*ratelimit.Rates, float64)
	}{
		{"NOTIFIER_RATE_BOT", "second", s.RateBot, 24 * 60 * 60, func(r *ratelimit.Rates, v float64) { r.Bot = v }},
		{"NOTIFIER_RATE_CHAT", "second", s.RateChat, 24 * 60 * 60, func(r *ratelimit.Rates, v float64) { r.Chat = v }},
		{"NOTIFIER_RATE_GROUP", "minute", s.RateGroup, 24 * 60, func(r *ratelimit.Rates, v float64) { r.Group = v }},
	} {
		tried := ratelimit.Rates{Bot: 1, Chat: 1, Group: 1}
		r.use(&tried, r.given)
		if _, err := ratelimit.New(tried); err != nil {
			lowest := math.Ceil(1e6/r.perDay) / 1e6 // to six decimals
			wrong = append(wrong, &Error{r.name, "must be a rate from " + strconv.FormatFloat(lowest, 'f', -1, 64) + " to 10000 messages a " + r.unit})
		}
	}
	return errors.Join(wrong...)
}
