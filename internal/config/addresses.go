package config

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"notifier/internal/secret"
)

// checkShown refuses secrets in settings that are shown, in the banner and by --print-config. What
// it says never holds the value.
func (s Settings) checkShown() error {
	var wrong []error
	if strings.Contains(s.Database, "://") {
		wrong = append(wrong, &Error{"DATABASE_URL", "databases other than SQLite are not supported yet: give the path of a file, such as notifier.db"})
	}
	if reason := secretIn(s.TelegramURL); reason != "" {
		wrong = append(wrong, &Error{"TELEGRAM_API_URL", reason + "; it is https://HOST[:PORT], and the token is in TELEGRAM_BOT_TOKEN alone"})
	}
	if s.WebhookURL != "" {
		if reason := secretIn(s.WebhookURL); reason != "" {
			wrong = append(wrong, &Error{"NOTIFIER_WEBHOOK_URL", reason + "; it is https://HOST" + WebhookPath + ", and the secret is in NOTIFIER_WEBHOOK_SECRET alone"})
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

// checkAddress checks an address that often holds a secret, and does not repeat it.
func checkAddress(name string, address secret.Value) error {
	if address.Reveal() == "" {
		return nil
	}
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return &Error{name, "must be an address that begins with https:// or http://"}
	}
	return nil
}
