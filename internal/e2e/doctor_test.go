package e2e

import (
	"net/http"
	"os"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // a foreign program writes too
)

func TestTheDoctorNamesEachFaultAndWhatMendsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		plant func(w *doctorEnv)
		check string
		mend  string // begins so
	}{
		{"secrets that others can read", func(w *doctorEnv) { w.sh("chmod 644 .env", true) }, "settings file", "chmod 600"},
		{"a setting with a slip of the pen", func(w *doctorEnv) { w.sh("echo NOTIFIER_LISTN=x >> .env", true) }, "settings", "${EDITOR"},
		{"a setting with a bad value", func(w *doctorEnv) { w.sh("echo NOTIFIER_RATE_BOT=fast >> .env", true) }, "settings", "${EDITOR"},
		{"no token", func(w *doctorEnv) { w.dotenv("") }, "token", "notifier setup"},
		{"a token that is revoked", func(w *doctorEnv) {
			revoked := "123:token"
			w.refused.Store(&revoked)
		}, "bot", "notifier setup"},
		{"a token that is revoked before there is a database", func(w *doctorEnv) {
			w.sh("rm -f shop.db shop.db-*", true)
			revoked := "123:token"
			w.refused.Store(&revoked)
		}, "bot", "notifier setup"},
		{"another bot's token", func(w *doctorEnv) {
			w.sh("notifier dispatch", true)
			w.dotenv("TELEGRAM_BOT_TOKEN=124:other\n")
		}, "bot", "notifier serve --accept-new-bot"},
		{"a secret's file that everybody can read", func(w *doctorEnv) {
			w.dotenv("TELEGRAM_BOT_TOKEN_FILE=token\n")
			w.sh("echo 123:token > token; chmod 644 token", true)
		}, "secret file", "chmod o-rwx"},
		{"a database that others can read", func(w *doctorEnv) { w.sh("chmod 644 shop.db", true) }, "database file", "chmod 600"},
		{"a database of an older version", func(w *doctorEnv) {
			schema, err := os.ReadFile("../database/testdata/schema-1.sql")
			if err != nil {
				w.t.Fatal(err)
			}
			w.sh("rm shop.db*", true)
			w.sql(string(schema))
			w.sh("chmod 600 shop.db", true)
		}, "database", "notifier migrate"},
		{"a damaged database", func(w *doctorEnv) {
			w.sh("notifier message send --chat 501 --text hello", true)
			w.sh("notifier backup good.db && notifier resume", true)
			w.settings = append(w.settings, "BACKUP=good.db")
			w.sql("PRAGMA wal_checkpoint(TRUNCATE)")
			w.sh("dd if=/dev/urandom of=shop.db bs=4096 seek=3 count=40 conv=notrunc status=none; rm -f shop.db-wal shop.db-shm", true)
		}, "database", "for f in"},
		{"a pause that was forgotten", func(w *doctorEnv) { w.sh("notifier pause", true) }, "sender", "notifier resume"},
		{"a copied database", func(w *doctorEnv) {
			w.sh("notifier dispatch && cp shop.db other.db && mv other.db shop.db && chmod 600 shop.db && rm -f shop.db-*", true)
		}, "sender", "notifier resume"},
		{"nobody who sends", func(w *doctorEnv) {
			w.sh("notifier message send --chat 501 --text hello", true)
			w.sql("UPDATE outbox SET ready_at = ready_at - 600000", "UPDATE notifier_recipients SET turn_at = turn_at - 600000")
		}, "sender", "notifier dispatch --until-empty"},
		{"a guard that still holds", func(w *doctorEnv) {
			w.sh("notifier dispatch", true)
			w.sql("UPDATE notifier_senders SET guard_since = 1, state = 'waiting', reason = 'five chats in a row'")
		}, "sender", "notifier sender release"},
		{"a staff chat that has blocked the bot", func(w *doctorEnv) {
			w.sql("INSERT INTO notifier_recipients (channel, address, state, reason, since) VALUES ('telegram', '500', 'dead', 'blocked', 1)")
		}, "staff chat", "notifier chat revive 500"},
		{"a webhook in the way of polling", func(w *doctorEnv) {
			w.ask("/bot123:token/setWebhook?url=http://127.0.0.1:9/elsewhere")
		}, "updates", "notifier dispatch"},
		{"a webhook that is not set", func(w *doctorEnv) {
			w.settings = append(w.settings, "NOTIFIER_UPDATES=webhook", "NOTIFIER_WEBHOOK_SECRET=opensesame",
				"NOTIFIER_WEBHOOK_URL=http://127.0.0.1:9/telegram/webhook")
		}, "updates", "notifier serve"},
		{"an address where nobody answers", func(w *doctorEnv) {
			w.unset("TELEGRAM_API_URL")
			w.sh("echo TELEGRAM_API_URL=http://127.0.0.1:9 >> .env", true)
		}, "Telegram", "curl"},
		{"a clock a year ahead", func(w *doctorEnv) { w.sh("touch fast", true) }, "clock", "timedatectl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newDoctorEnv(t)
			if failed := w.examine(); len(failed) > 0 {
				t.Fatalf("before: %+v", failed)
			}
			c.plant(w)
			failed := w.examine()
			if len(failed) != 1 || failed[0].Check != c.check || !strings.HasPrefix(failed[0].Mend, c.mend) || failed[0].Detail == "" {
				t.Fatalf("found %+v, want %s mended by %s", failed, c.check, c.mend)
			}
			if strings.HasPrefix(failed[0].Mend, "notifier setup") {
				if err := w.sandbox.Write(500, "it is me"); err != nil {
					t.Fatal(err)
				}
				w.stdin = "123:fresh\ny\n"
			}
			if c.check == "Telegram" { // nothing of ours is wrong, and the mend only shows what stands in the way
				return
			}
			w.mend(failed[0].Mend)
			if failed := w.examine(); c.name == "a damaged database" || c.name == "another bot's token" {
				// What was put back is a copy, and says so; a bot that was accepted begins paused.
				if len(failed) != 1 || failed[0].Mend != "notifier resume" {
					t.Fatalf("after %s: %+v", c.mend, failed)
				}
				w.mend(failed[0].Mend)
			} else if len(failed) > 0 {
				t.Fatalf("after %s: %+v", c.mend, failed)
			}
			if failed := w.examine(); len(failed) > 0 {
				t.Errorf("at the end: %+v", failed)
			}
		})
	}
}

// ask calls the Bot API as somebody else with the same token does.
func (w *doctorEnv) ask(target string) {
	w.t.Helper()
	for _, pair := range w.settings {
		if base, found := strings.CutPrefix(pair, "TELEGRAM_API_URL="); found {
			response, err := http.Get(base + target)
			if err != nil {
				w.t.Fatal(err)
			}
			_ = response.Body.Close()
		}
	}
}

func (w *doctorEnv) unset(name string) {
	var kept []string
	for _, pair := range w.settings {
		if !strings.HasPrefix(pair, name+"=") {
			kept = append(kept, pair)
		}
	}
	w.settings = kept
}
