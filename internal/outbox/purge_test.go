package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/database"
)

const day = 24 * time.Hour

func TestAPurgeTakesOnlyWhatHasEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		keep := Retention{Sent: 30 * day, Dead: 90 * day, Keys: 400 * day}
		purge := func() PurgeReport {
			dry, err := w.box.Purge(context.Background(), w.db, time.Now(), keep, true)
			if err != nil {
				t.Fatal(err)
			}
			done, err := w.box.Purge(context.Background(), w.db, time.Now(), keep, false)
			if err != nil || done.Blanked != dry.Blanked {
				t.Errorf("the dry run said %+v, it did %+v, %v", dry, done, err)
			}
			return done
		}
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(address == "2", CallResult{Verdict: Rejected, Detail: "too long", Answered: true})
		}
		old := w.put("1", "old", func(n *NewMessage) { n.Key = "k" })
		dead := w.put("2", "dead")
		waiting := w.put("customer:3", "waiting")
		w.runFor(time.Minute)
		time.Sleep(29 * day)
		recent := w.put("4", "recent")
		w.runFor(time.Minute)
		time.Sleep(2 * day)

		if r := purge(); r.Blanked != 1 || r.Removed != 0 {
			t.Errorf("after 31 days: %+v", r)
		}
		if m := w.message(old); string(m.Payload) != "{}" || len(w.attempts(old)) != 0 || m.State != StateSent || !m.Erased {
			t.Errorf("the old message is %s with %s", m.State, m.Payload)
		}
		for _, id := range []int64{dead, waiting, recent} {
			if m := w.message(id); string(m.Payload) == "{}" {
				t.Errorf("message %d was erased", id)
			}
		}
		if again := w.put("1", "again", func(n *NewMessage) { n.Key = "k" }); again != old {
			t.Error("its key was forgotten")
		}
		time.Sleep(60 * day)
		if r := purge(); r.Blanked != 2 {
			t.Errorf("after 91 days: %+v", r)
		}
		err := w.db.Write(context.Background(), func(tx database.Tx) error {
			_, err := w.box.Retry(tx, time.Now(), dead, true)
			return err
		})
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.Code != ConflictBlanked {
			t.Errorf("a retry of an erased message: %v", err)
		}
		time.Sleep(400 * day)
		if r := purge(); r.Removed != 3 {
			t.Errorf("after 491 days: %+v", r)
		}
		if m := w.message(waiting); m.State != StatePending {
			t.Errorf("the one that waits is %s", m.State)
		}
	})
}

func TestAPurgeGivesSpaceBack(t *testing.T) {
	inWorld(t, func(w *world) {
		size := func() (pages int) {
			w.write(func(tx database.Tx) error { return tx.QueryRow(`PRAGMA page_count`).Scan(&pages) })
			return pages
		}
		w.write(func(tx database.Tx) error {
			_, err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
				INSERT INTO outbox (recipient, type, payload, address, state, ended_at)
				SELECT '7', 'Text', '{"text":"' || printf('%.*c', 1000, 'x') || '"}', '7', 'sent', 1 FROM n`)
			return err
		})
		before := size()
		r, err := w.box.Purge(context.Background(), w.db, time.Now(), Retention{Sent: day, Dead: day, Keys: 2 * day}, false)
		if err != nil || r.Blanked != 5000 || r.Removed != 5000 {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := w.db.GiveBack(context.Background()); err != nil {
			t.Fatal(err)
		}
		if after := size(); after > before/2 {
			t.Errorf("%d pages before, %d after", before, after)
		}
	})
}

func TestACopyBeginsPausedUntilSomebodyResumesIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("1", "x")
		w.runFor(time.Second)
		for name, change := range map[string]string{
			"a marked backup": `UPDATE notifier_senders SET copied_at = 1`,
			"another file":    `UPDATE notifier_senders SET inode = inode + 1`,
			"another machine": `UPDATE notifier_senders SET machine = 'elsewhere'`,
		} {
			if machine, _, _ := w.db.Place(); machine == "" && name == "another machine" {
				continue // this machine has no id to compare with
			}
			sent := len(w.channel.sent)
			w.exec(change)
			w.restart()
			id := w.put("1", fmt.Sprint(name))
			w.runFor(time.Minute)
			w.wantState(id, StatePending, "")
			if s := w.status(); s.State != SenderPaused || !strings.Contains(s.Reason, "copy") || len(w.channel.sent) != sent {
				t.Errorf("%s: the sender is %+v", name, s)
			}
			w.restart()
			w.runFor(time.Minute)
			w.write(func(tx database.Tx) error { return w.box.Resume(tx, time.Now(), "", 0) })
			w.runFor(time.Minute)
			w.wantState(id, StateSent, "")
			w.restart()
			w.runFor(time.Minute)
			if s := w.status(); s.State != SenderRunning {
				t.Errorf("%s: after the resume the sender is %+v", name, s)
			}
		}
	})
}
