package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// Two senders share no pace and take each other's calls under way for abandoned ones. Whoever removes
// the lock's file must not get two.
func TestH10NoSecondSenderWhenTheLockFileIsRemoved(t *testing.T) {
	t.Parallel()
	const chats, perSecond = 60, 10
	c := newCoreEnv(t, "NOTIFIER_RATE_BOT="+fmt.Sprint(perSecond))
	first := c.serve()
	c.wantState(first, c.say(first, 1, "before"), "sent", 15*time.Second)
	if err := os.Remove(c.database() + ".lock"); err != nil {
		t.Fatal(err)
	}
	second := c.serve()
	c.wantState(second, c.say(second, 1, "between"), "sent", 30*time.Second)
	for chat := range int64(chats) {
		c.say(second, 1000+chat, "to each of many")
	}
	c.becomesOr(60*time.Second, "everything was sent", func() bool { return c.sandbox.Stats().Delivered >= chats+2 })
	for chat := range int64(chats) {
		if n := c.delivered(1000+chat, "to each of many"); n != 1 {
			t.Errorf("chat %d got it %d times", 1000+chat, n)
		}
	}
	most := c.sandbox.Stats().MaxPerSecond
	t.Logf("with a pace of %d a second, %d messages were sent in one", perSecond, most)
	if most > perSecond+1 {
		t.Errorf("with a pace of %d a second, %d messages were sent in one: two processes send", perSecond, most)
	}
	c.end(second)
}

// Waiting costs nothing, also while the service ends and another chat's turn would have come.
func TestH11EndingAndWaitingForTheDiskIsNoWork(t *testing.T) {
	t.Parallel()
	t.Run("while it ends", func(t *testing.T) {
		t.Parallel()
		c := newCoreEnv(t, "NOTIFIER_RATE_CHAT=0.5")
		v := c.serve()
		c.fault(1, 1, sandbox.Respond{Delay: 7 * time.Second})
		c.say(v, 1, "under way")
		c.waitOpen(1)
		c.wantState(v, c.say(v, 2, "one"), "sent", 15*time.Second)
		c.say(v, 2, "two, in two seconds")
		c.wantState(v, c.say(v, 3, "the sender has seen it"), "sent", 15*time.Second)
		before := c.cpu(v)
		c.end(v)
		state := v.process.ProcessState
		used := state.UserTime() + state.SystemTime() - before
		t.Logf("ending took %v of processor time", used)
		if used > time.Second {
			t.Errorf("ending took %v of processor time", used)
		}
	})
	t.Run("while an answer cannot be stored", func(t *testing.T) {
		t.Parallel()
		c := newCoreEnv(t, "NOTIFIER_RATE_CHAT=0.25")
		v := c.serve()
		db := c.open()
		c.fault(1, 1, sandbox.Respond{Delay: 2 * time.Second})
		id := c.say(v, 1, "under way")
		c.waitOpen(1)
		c.wantState(v, c.say(v, 2, "one"), "sent", 15*time.Second)
		waiting := c.say(v, 2, "two, in four seconds")
		if _, err := db.Exec(`CREATE TRIGGER no_answers BEFORE UPDATE ON notifier_attempts BEGIN SELECT RAISE(ABORT, 'not now'); END`); err != nil {
			t.Fatal(err)
		}
		c.waitOpen(0)
		time.Sleep(3 * time.Second) // until the other chat's turn has come; nothing shows it
		before := c.cpu(v)
		time.Sleep(4 * time.Second) // what is measured is what is done while nothing can be done
		used := c.cpu(v) - before
		t.Logf("4 s of waiting took %v of processor time", used)
		if used > time.Second {
			t.Errorf("4 s of waiting took %v of processor time", used)
		}
		if _, err := db.Exec(`DROP TRIGGER no_answers`); err != nil {
			t.Fatal(err)
		}
		c.wantState(v, id, "sent", 20*time.Second)
		c.wantState(v, waiting, "sent", 20*time.Second)
		c.end(v)
	})
}

// A schedule that never comes, or comes all the time, is a slip of the pen: the start says so.
func TestH11SchedulesThatNeverComeAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"NOTIFIER_DISPATCH_SCHEDULE", "NOTIFIER_PURGE_SCHEDULE"} {
		for _, line := range []string{"0 0 31 2 *", "@every 0s", "@every -1h"} {
			t.Run(name+" "+line, func(t *testing.T) {
				t.Parallel()
				c := newCoreEnv(t, name+"="+line)
				ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
				defer cancel()
				command := c.command("serve")
				var told bytes.Buffer
				command.Stderr = &told
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- command.Wait() }()
				select {
				case err := <-ended:
					if err == nil || !strings.Contains(told.String(), name) {
						t.Errorf("it ended with %v and said\n%s", err, &told)
					}
				case <-ctx.Done():
					used := c.cpu(&service{process: command})
					_ = command.Process.Kill()
					err := <-ended
					t.Errorf("it was taken, and ended by force alone (%v); in 8 s it used %v of processor time and logged %d lines", err, used, strings.Count(told.String(), "\n"))
				}
			})
		}
	}
}

// A copy of the database file that is made at any time after `resume` knows that it is a copy.
func TestH17ACopyAfterAResumeIsKnownAsOne(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t)
	v := c.serve()
	c.wantState(v, c.say(v, 7, "before"), "sent", 15*time.Second)
	c.do(v, "/sender/pause", "{}")
	c.do(v, "/sender/resume", "{}")
	id := c.say(v, 7, "only once", at("notBefore", 4*time.Second))
	other := newCoreEnv(t)
	if err := os.Remove(other.database()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.open().Exec(`VACUUM INTO ?`, other.database()); err != nil {
		t.Fatal(err)
	}
	copied := other.serve()
	c.wantState(v, id, "sent", 20*time.Second)
	c.wantState(v, c.say(v, 7, "after"), "sent", 15*time.Second)
	if sender := other.show(copied, "/sender"); sender["state"] != "paused" {
		// The copy has the same time of its own: it has sent the message, or is about to.
		becomes(5*time.Second, func() bool { return other.delivered(7, "only once") > 0 })
		t.Errorf("the copy's sender is %v; it has sent the message %d times", sender["state"], other.delivered(7, "only once"))
	}
	other.end(copied)
	c.end(v)
}
