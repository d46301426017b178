package main

import (
	"errors"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"notifier/internal/telegram/ratelimit"
	"notifier/internal/telegram/syntax"
	"notifier/internal/telegram/text"
)

// checkShown refuses secrets in settings that are shown, in the banner and by --print-config. What
// it says never holds the value.
func (s Settings) checkShown() error {
	var wrong []error
	if strings.Contains(s.Database, "://") {
		wrong = append(wrong, &settingError{"DATABASE_URL", "databases other than SQLite are not supported yet: give the path of a file, such as notifier.db"})
	}
	if reason := secretIn(s.TelegramURL); reason != "" {
		wrong = append(wrong, &settingError{"TELEGRAM_API_URL", reason + "; it is https://HOST[:PORT], and the token is in TELEGRAM_BOT_TOKEN alone"})
	}
	if s.WebhookURL != "" {
		if reason := secretIn(s.WebhookURL); reason != "" {
			wrong = append(wrong, &settingError{"NOTIFIER_WEBHOOK_URL", reason + "; it is https://HOST/telegram/webhook, and the secret is in NOTIFIER_WEBHOOK_SECRET alone"})
		}
	}
	return errors.Join(wrong...)
}

// tokenInPath finds what a path that holds a token looks like: /bot123:abc, or /123:abc.
var tokenInPath = regexp.MustCompile(`(?i)(^|/)(bot[0-9]|[0-9]+:)`)

// secretIn says why an address may not be shown, or nothing.
func secretIn(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "must be an address that begins with https:// or http://"
	case u.User != nil:
		return "must hold no user name and no password"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must end with its path: nothing after a ? or a #"
	case tokenInPath.MatchString(u.Path):
		return "must hold no token"
	}
	return ""
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
			wrong = append(wrong, &settingError{r.name, "must be a rate from " + strconv.FormatFloat(lowest, 'f', -1, 64) + " to 10000 messages a " + r.unit})
		}
	}
	return errors.Join(wrong...)
}

// checkForServe refuses, besides what every verb does, values at which serve stops; a verb that
// needs neither token nor texts works all the same.
func (s Settings) checkForServe() error {
	var wrong []error
	if token := s.Token; token.Reveal() != "" {
		if _, err := syntax.BotID(token); err != nil {
			wrong = append(wrong, &settingError{"TELEGRAM_BOT_TOKEN", err.Error()})
		}
	}
	if _, err := text.New(text.Options{Locale: s.Locale}); err != nil {
		wrong = append(wrong, &settingError{"NOTIFIER_LOCALE", err.Error()})
	}
	return errors.Join(wrong...)
}
