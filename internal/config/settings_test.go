package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/outbox"
)

// .env.example and the code name the same settings, in the same order, with the same defaults.
func TestEnvExampleIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	var documented, coded []string
	explained := ""
	for _, line := range strings.Split(string(text), "\n") {
		name, value, found := strings.Cut(strings.TrimPrefix(line, "#"), "=")
		if !found || strings.ContainsAny(name, " /") {
			explained = line
			continue
		}
		if !strings.HasPrefix(line, "#") || !strings.HasPrefix(explained, "# ") {
			t.Errorf("%s must be commented out, under a comment that explains it", name)
		}
		documented = append(documented, name+"="+value)
	}
	for _, e := range (Settings{}).entries() {
		coded = append(coded, e.name+"="+e.fallback)
	}
	if diff := cmp.Diff(coded, documented); diff != "" {
		t.Errorf("settings (-code +.env.example):\n%s", diff)
	}
}

func TestTheDefaultsFollowTheirOwnRules(t *testing.T) {
	if _, err := parse(map[string]string{}); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheEnvironmentComesBeforeTheFile(t *testing.T) {
	file := write(t, ".env", "NOTIFIER_RATE_BOT=10\nNOTIFIER_RATE_CHAT=2\nNOTIFIER_API_KEY='from file # and $HOME'\nOTHER=1\nNOTIFIER_LOCALE=\n")
	s, err := Load([]string{"NOTIFIER_RATE_BOT=20", "NOTIFIER_RATE_CHAT=", "PATH=/bin"}, Source{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if s.RateBot != 20 || s.RateChat != 2 || s.Locale != "en" || s.APIKey.Reveal() != "from file # and $HOME" {
		t.Errorf("settings %+v, key %s", s, s.APIKey.Reveal())
	}
}

func TestSecretsFromFiles(t *testing.T) {
	secret := write(t, "token", "1:abc\n\n")
	for _, c := range []struct {
		environ []string
		dotenv  string
		want    string // or the error's words
	}{
		{[]string{"TELEGRAM_BOT_TOKEN_FILE=" + secret}, "", "1:abc"},
		{nil, "TELEGRAM_BOT_TOKEN_FILE=" + secret, "1:abc"},
		{[]string{"TELEGRAM_BOT_TOKEN=2:env\n"}, "TELEGRAM_BOT_TOKEN=2:file", "2:env"},
		{[]string{"TELEGRAM_BOT_TOKEN=2:env\n"}, "TELEGRAM_BOT_TOKEN_FILE=" + secret, "given twice"},
		{[]string{"TELEGRAM_BOT_TOKEN_FILE=" + secret}, "TELEGRAM_BOT_TOKEN=2:file", "given twice"},
		{[]string{"TELEGRAM_BOT_TOKEN_FILE=" + secret, "TELEGRAM_BOT_TOKEN=2:x"}, "", "given twice"},
		{nil, "TELEGRAM_BOT_TOKEN=2:x\nTELEGRAM_BOT_TOKEN_FILE=" + secret, "given twice"},
		{[]string{"TELEGRAM_BOT_TOKEN_FILE=/nowhere/token"}, "", "TELEGRAM_BOT_TOKEN_FILE: "},
		{[]string{"NOTIFIER_API_KEY_FILE=" + write(t, "empty", "\n")}, "", "is empty"},
	} {
		s, err := Load(c.environ, Source{File: write(t, ".env", c.dotenv)})
		got := s.Token.Reveal()
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q and .env %q: %s, want %s", c.environ, c.dotenv, got, c.want)
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for name, refused := range map[string]bool{
		"NOTIFIER_LISTN": true, "NOTIFIER_API_KEY_FILES": true, "NOTIFIER_RATE_BOT_FILE": true, "NOTIFIER_WEBHOOK_URI": true,
		"NOTIFIER_": true, "NOTIFIER": false, "OTHER_LISTEN": false, "notifier_listen": false,
		"NOTIFIER_SERVICE_HOST": false, "NOTIFIER_SERVICE_PORT": false, "NOTIFIER_SERVICE_PORT_HTTP": false,
		"NOTIFIER_PORT": false, "NOTIFIER_PORT_8080_TCP": false, "NOTIFIER_PORT_8080_TCP_ADDR": false,
		"NOTIFIER_API_SERVICE_HOST": false, "NOTIFIER_API_PORT_80_UDP_PROTO": false, "NOTIFIER_NAME": false,
	} {
		_, err := Load([]string{name + "=1"}, Source{File: "/nowhere/.env"})
		if (err != nil) != refused || (refused && !strings.Contains(err.Error(), name)) {
			t.Errorf("%s in the environment: %v", name, err)
		}
		// In the file nothing has been put by others.
		ours := strings.HasPrefix(name, "NOTIFIER_")
		if _, err := Load(nil, Source{File: write(t, ".env", name+"=1")}); (err != nil) != ours {
			t.Errorf("%s in .env: %v", name, err)
		}
	}
}

func TestABrokenFileIsNotRepeated(t *testing.T) {
	_, err := Load(nil, Source{File: write(t, ".env", "TELEGRAM_BOT_TOKEN 1:opensesame\n")})
	if err == nil || strings.Contains(err.Error(), "opensesame") {
		t.Errorf("error %v", err)
	}
}

func TestBadValuesAreNamed(t *testing.T) {
	for _, c := range []struct{ name, value, words string }{
		{"NOTIFIER_LISTEN", "8080", "ADDRESS:PORT"},
		{"NOTIFIER_LISTEN", "192.168.0.7:8080", "NOTIFIER_API_KEY"},
		{"NOTIFIER_LISTEN", ":8080", "NOTIFIER_API_KEY"},
		{"NOTIFIER_API_KEY", ",", "two"},
		{"NOTIFIER_API_KEY", "a,b,c", "two"},
		{"NOTIFIER_RATE_BOT", "0", "rate"},
		{"NOTIFIER_RATE_BOT", "fast", "a number"},
		{"NOTIFIER_RATE_GROUP", "-1", "rate"},
		{"NOTIFIER_BATCH_SIZE", "0", "1 to 10000"},
		{"NOTIFIER_CONCURRENCY", "1.5", "whole number"},
		{"NOTIFIER_MAX_ATTEMPTS", "0", "1 to 100"},
		{"NOTIFIER_SEND_TIMEOUT", "30", "a duration"},
		{"NOTIFIER_SEND_TIMEOUT", "45s", "NOTIFIER_SHUTDOWN_TIMEOUT"},
		{"NOTIFIER_SHUTDOWN_TIMEOUT", "30s", "longer than NOTIFIER_SEND_TIMEOUT"},
		{"NOTIFIER_MESSAGE_TTL", "0s", "at least"},
		{"NOTIFIER_ON_UNCERTAIN", "forget", "resend, hold"},
		{"NOTIFIER_DISPATCH_SCHEDULE", "0 0 31 2 *", "never comes"},
		{"NOTIFIER_DISPATCH_SCHEDULE", "@every 0s", "a second at least"},
		{"NOTIFIER_PURGE_SCHEDULE", "@every -1h", "a second at least"},
		{"NOTIFIER_PURGE_SCHEDULE", "0 0 31 2 *", "never comes"},
		{"NOTIFIER_DISPATCH_SCHEDULE", "now and then", "cron line"},
		{"NOTIFIER_TIMEZONE", "Mars/Olympus", "time zone"},
		{"NOTIFIER_STAFF_CHAT_ID", "@staff", "whole number"},
		{"NOTIFIER_STAFF_CHAT_ID", "0", "not 0"},
		{"NOTIFIER_STAFF_CHAT_ID", "4503599627370496", "52 bits"},
		{"NOTIFIER_PURGE_SCHEDULE", "nightly", "cron line"},
		{"NOTIFIER_RETENTION_SENT", "0s", "at least 1h"},
		{"NOTIFIER_RETENTION_DEAD", "59m", "at least 1h"},
		{"NOTIFIER_RETENTION_KEYS", "719h", "at least 720h"},
		{"NOTIFIER_UPDATES", "push", "polling, webhook, off"},
		{"NOTIFIER_ALERT_URL", "ops@shop.example", "https://"},
		{"NOTIFIER_HEARTBEAT_URL", "/beat", "https://"},
		{"NOTIFIER_LOG_LEVEL", "loud", "debug, info"},
		{"NOTIFIER_LOG_FORMAT", "xml", "auto, text, json"},
	} {
		_, err := Load([]string{c.name + "=" + c.value}, Source{File: "/nowhere/.env"})
		if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}

// Only the rate that is wrong is named, in numbers that people write.
func TestARateIsRefusedByItself(t *testing.T) {
	for name, words := range map[string]string{
		"NOTIFIER_RATE_BOT":   "NOTIFIER_RATE_BOT: must be a rate from 0.000012 to 10000 messages a second",
		"NOTIFIER_RATE_CHAT":  "NOTIFIER_RATE_CHAT: must be a rate from 0.000012 to 10000 messages a second",
		"NOTIFIER_RATE_GROUP": "NOTIFIER_RATE_GROUP: must be a rate from 0.000695 to 10000 messages a minute",
	} {
		for _, value := range []string{"0", "-1", "NaN", "Inf", "10001"} {
			if _, err := Load([]string{name + "=" + value}, Source{File: "/nowhere/.env"}); err == nil || err.Error() != words {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	if _, err := Load([]string{"NOTIFIER_RATE_BOT=0.000012", "NOTIFIER_RATE_GROUP=0.000695"}, Source{File: "/nowhere/.env"}); err != nil {
		t.Error(err)
	}
}

// What is shown in the banner and by --print-config can hold no secret.
func TestSecretsInAddressesAreRefused(t *testing.T) {
	for _, pair := range []string{
		"DATABASE_URL=postgres://u:opensesame@h/db", "DATABASE_URL=opensesame://h",
		"TELEGRAM_API_URL=http://u:opensesame@h/", "TELEGRAM_API_URL=http://opensesame@h", "TELEGRAM_API_URL=https://api.telegram.org/bot9:opensesame/",
		"TELEGRAM_API_URL=https://api.telegram.org/bot9%3Aopensesame", "TELEGRAM_API_URL=https://9:opensesame", "TELEGRAM_API_URL=https://h/9:opensesame",
		"TELEGRAM_API_URL=https://h/?token=opensesame", "TELEGRAM_API_URL=https://h/#opensesame", "TELEGRAM_API_URL=9:opensesame",
		"NOTIFIER_WEBHOOK_URL=https://u:opensesame@h/telegram/webhook", "NOTIFIER_WEBHOOK_URL=https://h/telegram/webhook?s=opensesame",
	} {
		name, _, _ := strings.Cut(pair, "=")
		_, err := Load([]string{pair}, Source{File: "/nowhere/.env"})
		if err == nil || !strings.Contains(err.Error(), name+": ") || strings.Contains(err.Error(), "opensesame") {
			t.Errorf("%s: %v", pair, err)
		}
	}
	for _, pair := range []string{"TELEGRAM_API_URL=http://127.0.0.1:8081/", "TELEGRAM_API_URL=https://proxy.example/telegram", "DATABASE_URL=a:b?#%/x.db"} {
		if _, err := Load([]string{pair}, Source{File: "/nowhere/.env"}); err != nil {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// A webhook needs its address and a secret that Telegram accepts; neither is repeated.
func TestAWebhookNeedsAddressAndSecret(t *testing.T) {
	const address = "NOTIFIER_WEBHOOK_URL=https://shop.example/telegram/webhook"
	for _, c := range []struct {
		environ []string
		words   string // of the refusal; empty: accepted
	}{
		{[]string{address, "NOTIFIER_WEBHOOK_SECRET=opensesame_-1"}, ""},
		{[]string{address}, "NOTIFIER_WEBHOOK_SECRET"},
		{[]string{address, "NOTIFIER_WEBHOOK_SECRET=open sesame"}, "NOTIFIER_WEBHOOK_SECRET"},
		{[]string{"NOTIFIER_WEBHOOK_SECRET=opensesame"}, "NOTIFIER_WEBHOOK_URL"},
		{[]string{"NOTIFIER_WEBHOOK_URL=https://shop.example/", "NOTIFIER_WEBHOOK_SECRET=opensesame"}, "/telegram/webhook"},
		{[]string{address, "NOTIFIER_WEBHOOK_SECRET=opensesame", "NOTIFIER_WEBHOOK_LISTEN=8443"}, "NOTIFIER_WEBHOOK_LISTEN"},
	} {
		_, err := Load(append(c.environ, "NOTIFIER_UPDATES=webhook"), Source{File: "/nowhere/.env"})
		switch {
		case c.words == "" && err != nil, c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)):
			t.Errorf("%q: %v", c.environ, err)
		case err != nil && strings.Contains(err.Error(), "sesame"):
			t.Errorf("%q: the secret is in %v", c.environ, err)
		}
	}
}

// The words of the setting are those that the outbox stores.
func TestWhatIsUncertainIsSentAgainOrHeld(t *testing.T) {
	for _, policy := range []string{outbox.OnUncertainResend, outbox.OnUncertainHold} {
		if _, err := Load([]string{"NOTIFIER_ON_UNCERTAIN=" + policy}, Source{File: "/nowhere/.env"}); err != nil {
			t.Error(err)
		}
	}
}
