package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"notifier/internal/secret"
	"notifier/internal/telegram/syntax"
)

// Settings are all settings, in the order in which .env.example explains them. A field of type
// secret.Value can also come from the file that its name with _FILE names.
type Settings struct {
	Token       secret.Value `env:"TELEGRAM_BOT_TOKEN"`
	TelegramURL string       `env:"TELEGRAM_API_URL" envDefault:"https://api.telegram.org"`
	Database    string       `env:"DATABASE_URL" envDefault:"notifier.db"`

	Listen string       `env:"NOTIFIER_LISTEN" envDefault:"127.0.0.1:8080"`
	APIKey secret.Value `env:"NOTIFIER_API_KEY"`

	Updates       string       `env:"NOTIFIER_UPDATES" envDefault:"polling"`
	WebhookURL    string       `env:"NOTIFIER_WEBHOOK_URL"`
	WebhookSecret secret.Value `env:"NOTIFIER_WEBHOOK_SECRET"`
	WebhookListen string       `env:"NOTIFIER_WEBHOOK_LISTEN"`

	StaffChatID int64  `env:"NOTIFIER_STAFF_CHAT_ID"`
	Locale      string `env:"NOTIFIER_LOCALE" envDefault:"en"`

	RateBot     float64       `env:"NOTIFIER_RATE_BOT" envDefault:"28"`
	RateChat    float64       `env:"NOTIFIER_RATE_CHAT" envDefault:"1"`
	RateGroup   float64       `env:"NOTIFIER_RATE_GROUP" envDefault:"18"`
	Concurrency int           `env:"NOTIFIER_CONCURRENCY" envDefault:"32"`
	SendTimeout time.Duration `env:"NOTIFIER_SEND_TIMEOUT" envDefault:"30s"`
	MaxAttempts int           `env:"NOTIFIER_MAX_ATTEMPTS" envDefault:"8"`
	MessageTTL  time.Duration `env:"NOTIFIER_MESSAGE_TTL" envDefault:"72h"`
	OnUncertain string        `env:"NOTIFIER_ON_UNCERTAIN" envDefault:"resend"`

	Schedule        string        `env:"NOTIFIER_DISPATCH_SCHEDULE" envDefault:"@every 1s"`
	Timezone        string        `env:"NOTIFIER_TIMEZONE" envDefault:"UTC"`
	BatchSize       int           `env:"NOTIFIER_BATCH_SIZE" envDefault:"100"`
	ShutdownTimeout time.Duration `env:"NOTIFIER_SHUTDOWN_TIMEOUT" envDefault:"40s"`

	RetentionSent time.Duration `env:"NOTIFIER_RETENTION_SENT" envDefault:"720h"`
	RetentionDead time.Duration `env:"NOTIFIER_RETENTION_DEAD" envDefault:"2160h"`
	RetentionKeys time.Duration `env:"NOTIFIER_RETENTION_KEYS" envDefault:"9600h"`
	PurgeSchedule string        `env:"NOTIFIER_PURGE_SCHEDULE" envDefault:"30 3 * * *"`

	AlertURL     secret.Value `env:"NOTIFIER_ALERT_URL"`
	HeartbeatURL secret.Value `env:"NOTIFIER_HEARTBEAT_URL"`
	LogLevel     slog.Level   `env:"NOTIFIER_LOG_LEVEL" envDefault:"info"`
	LogFormat    string       `env:"NOTIFIER_LOG_FORMAT" envDefault:"auto"`

	// tokenFile is where the token came from, to be read again when Telegram refuses it.
	tokenFile string
}

// ReadToken is the bot's token, read again if it came from a file.
func (s Settings) ReadToken() (secret.Value, error) {
	if s.tokenFile == "" {
		return s.Token, nil
	}
	return readSecret(s.tokenFile)
}

// WithToken are the settings with another token than was read.
func (s Settings) WithToken(token secret.Value) Settings {
	s.Token, s.tokenFile = token, ""
	return s
}

// Error says what is wrong with one setting. It never holds the value of a secret.
type Error struct{ Name, Reason string }

func (e *Error) Error() string { return e.Name + ": " + e.Reason }

// validate checks every value, and those that depend on each other.
func (s Settings) validate() error {
	var wrong []error
	need := func(ok bool, name, reason string) {
		if !ok {
			wrong = append(wrong, &Error{name, reason})
		}
	}
	need(s.BatchSize >= 1 && s.BatchSize <= 10_000, "NOTIFIER_BATCH_SIZE", "must be from 1 to 10000")
	need(s.Concurrency >= 1 && s.Concurrency <= 1000, "NOTIFIER_CONCURRENCY", "must be from 1 to 1000")
	need(s.MaxAttempts >= 1 && s.MaxAttempts <= 100, "NOTIFIER_MAX_ATTEMPTS", "must be from 1 to 100")
	need(s.SendTimeout >= time.Second && s.SendTimeout <= 10*time.Minute, "NOTIFIER_SEND_TIMEOUT", "must be from 1s to 10m")
	need(s.MessageTTL >= time.Minute, "NOTIFIER_MESSAGE_TTL", "must be at least 1m")
	need(s.ShutdownTimeout > s.SendTimeout, "NOTIFIER_SHUTDOWN_TIMEOUT",
		fmt.Sprintf("must be longer than NOTIFIER_SEND_TIMEOUT (%v), so that calls under way can end", s.SendTimeout))
	policies := []string{"resend", "hold"}
	need(slices.Contains(policies, s.OnUncertain), "NOTIFIER_ON_UNCERTAIN", "must be one of "+strings.Join(policies, ", "))
	formats := []string{"auto", "text", "json"}
	need(slices.Contains(formats, s.LogFormat), "NOTIFIER_LOG_FORMAT", "must be one of "+strings.Join(formats, ", "))
	need(s.StaffChatID == 0 || syntax.IsChatID(s.StaffChatID), staffChat, staffChatForm)
	_, errSafety := s.DispatchTimes()
	_, errPurge := s.PurgeTimes()
	wrong = append(wrong, errSafety, errPurge, s.checkListen(), s.checkKeys(), s.checkRetention(), s.checkUpdates(), s.checkShown(), s.checkRates(),
		checkAddress("NOTIFIER_ALERT_URL", s.AlertURL), checkAddress("NOTIFIER_HEARTBEAT_URL", s.HeartbeatURL))
	return errors.Join(wrong...)
}
