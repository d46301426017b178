package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"notifier/internal/secret"
	"notifier/internal/telegram/syntax"
	"notifier/internal/telegram/updates"
)

// leastKeyRetention is how long a shop may rely on an Idempotency-Key.
const leastKeyRetention = 30 * 24 * time.Hour

// safety is the schedule of the safety pass.
func (s Settings) safety() (cron.Schedule, error) {
	return s.cronLine("NOTIFIER_DISPATCH_SCHEDULE", s.Schedule)
}

// purgeSchedule is when old data is erased.
func (s Settings) purgeSchedule() (cron.Schedule, error) {
	return s.cronLine("NOTIFIER_PURGE_SCHEDULE", s.PurgeSchedule)
}

func (s Settings) cronLine(name, line string) (cron.Schedule, error) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return nil, &settingError{"NOTIFIER_TIMEZONE", "is no time zone such as Europe/Berlin"}
	}
	schedule, err := cron.ParseStandard("CRON_TZ=" + s.Timezone + " " + line)
	if err != nil {
		return nil, &settingError{name, fmt.Sprintf("is no cron line such as `@every 1s` or `30 3 * * *` (%v)", err)}
	}
	return onceADay(schedule, zone), nil
}

// checkListen lets only this machine in as long as there is no key.
func (s Settings) checkListen() error {
	const name = "NOTIFIER_LISTEN"
	host, _, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return &settingError{name, "must be ADDRESS:PORT, such as 127.0.0.1:8080"}
	}
	if s.APIKey.Reveal() != "" || host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return &settingError{name, "without NOTIFIER_API_KEY must be a loopback address such as 127.0.0.1:8080"}
}

func (s Settings) checkRetention() error {
	var wrong []error
	for _, r := range []struct {
		name string
		kept time.Duration
	}{{"NOTIFIER_RETENTION_SENT", s.RetentionSent}, {"NOTIFIER_RETENTION_DEAD", s.RetentionDead}} {
		if r.kept < time.Hour {
			wrong = append(wrong, &settingError{r.name, "must be at least 1h"})
		}
	}
	if s.RetentionKeys < leastKeyRetention {
		wrong = append(wrong, &settingError{"NOTIFIER_RETENTION_KEYS", "must be at least 720h, so that a request that is repeated days later is still known"})
	}
	return errors.Join(wrong...)
}

// What NOTIFIER_UPDATES can be.
const (
	updatesPolling = "polling"
	updatesWebhook = "webhook"
	updatesOff     = "off"
)

// checkUpdates holds the settings of the webhook against each other. A webhook without a secret
// would take updates from anybody.
func (s Settings) checkUpdates() error {
	ways := []string{updatesPolling, updatesWebhook, updatesOff}
	if !slices.Contains(ways, s.Updates) {
		return &settingError{"NOTIFIER_UPDATES", "must be one of " + strings.Join(ways, ", ")}
	}
	if s.Updates != updatesWebhook {
		return nil
	}
	var wrong []error
	if u, err := url.Parse(s.WebhookURL); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		wrong = append(wrong, &settingError{"NOTIFIER_WEBHOOK_URL", "must be the public https:// address that Telegram sends updates to"})
	} else if u.Path != updates.WebhookPath {
		wrong = append(wrong, &settingError{"NOTIFIER_WEBHOOK_URL", "must end in " + updates.WebhookPath + ", where this service takes updates"})
	}
	if !syntax.IsWebhookSecret(s.WebhookSecret) {
		wrong = append(wrong, &settingError{"NOTIFIER_WEBHOOK_SECRET", "must be " + syntax.WebhookSecret + ", such as the output of `openssl rand -hex 32`"})
	}
	if s.WebhookListen != "" {
		if _, _, err := net.SplitHostPort(s.WebhookListen); err != nil {
			wrong = append(wrong, &settingError{"NOTIFIER_WEBHOOK_LISTEN", "must be ADDRESS:PORT, such as 127.0.0.1:8443"})
		}
	}
	return errors.Join(wrong...)
}

// checkAddress checks an address that often holds a secret, and does not repeat it.
func checkAddress(name string, address secret.Value) error {
	if address.Reveal() == "" {
		return nil
	}
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return &settingError{name, "must be an address that begins with https:// or http://"}
	}
	return nil
}
