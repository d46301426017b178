package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"notifier/internal/config"
)

// SIGTERM ends a service with 0, however early it comes.
func TestAnEarlyEndIsAGoodEnd(t *testing.T) {
	for _, after := range []time.Duration{0, 100 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond} {
		c := newEnv(t)
		ctx, cancel := context.WithCancel(t.Context())
		if after == 0 {
			cancel()
		}
		time.AfterFunc(after, cancel)
		var out, log bytes.Buffer
		if code := run(ctx, []string{"serve", "--paused"}, c.environ, nil, &out, &log); code != 0 {
			t.Errorf("ended after %v: exit code %d\n%s", after, code, &log)
		}
	}
}

func TestAStandbySaysWhoSends(t *testing.T) {
	c := newEnv(t)
	first := c.serve()
	first.log.find(t, "this process sends")
	second := c.serve()
	second.out.find(t, `sender +standby: process \d+ on \S+ sends \(running\)`)
	if _, out, _ := c.run("sender"); !strings.Contains(out, "The sender is running (process ") {
		t.Errorf("sender: %s", out)
	}
}

// The log says what holds up the sender, and when that is over.
func TestTheLogSaysWhenSendingGoesOn(t *testing.T) {
	c := newEnv(t)
	s := c.serve("--paused")
	s.post("/messages", `{"chatId":701,"text":"x"}`)
	s.log.find(t, `not sending.*paused`)
	s.post("/sender/resume", "{}")
	s.log.find(t, `sending again.*paused`)
	s.post("/sender/pause", "{}")
	s.post("/messages", `{"chatId":701,"text":"y"}`)
	s.log.find(t, `(?s)sending again.*not sending.*paused`)
}

func TestServeWarnsOfAnOpenSettingsFile(t *testing.T) {
	for _, f := range []struct {
		text string
		mode os.FileMode
		warn bool
	}{
		{"TELEGRAM_BOT_TOKEN=1:test\n", 0o644, true},
		{"TELEGRAM_BOT_TOKEN=1:test\n", 0o600, false},
		{"NOTIFIER_RATE_CHAT=1\n", 0o644, false},
	} {
		c := newEnv(t)
		if err := os.WriteFile(config.File, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(config.File, f.mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		s := c.serve()
		s.end()
		if got := strings.Contains(s.log.String(), "chmod 600 .env"); got != f.warn {
			t.Errorf("%q with mode %v: %s", f.text, f.mode, s.log)
		}
	}
}
