package outbox

import (
	"context"
	"testing"
	"time"
)

func TestBulkRetryAndRevive(t *testing.T) {
	inWorld(t, func(w *world) {
		broken := true
		w.channel.send = func(address, _ string, _ int) CallResult {
			if address == "9" {
				return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
			}
			return when(broken, CallResult{Verdict: Rejected, Answered: true})
		}
		one, two := w.put("1", "a"), w.put("2", "b")
		blocked := w.put("9", "c")
		w.runFor(time.Minute)
		broken = false
		count := func(b Bulk) (n int) {
			n, err := w.box.RetryAll(context.Background(), w.db, time.Now(), b)
			if err != nil {
				t.Fatal(err)
			}
			w.d.Wake()
			return n
		}
		if n := count(Bulk{State: "dead", Reason: ReasonRejected, DryRun: true}); n != 2 {
			t.Errorf("a dry run counts %d", n)
		}
		if n := count(Bulk{State: "dead", DryRun: true}); n != 2 {
			t.Errorf("%d, with one of a dead chat", n)
		}
		if n := count(Bulk{State: "canceled", Reason: ReasonRejected}); n != 0 {
			t.Errorf("%d canceled ones were rejected", n)
		}
		if n := count(Bulk{State: "dead", Since: time.Now(), DryRun: true}); n != 0 {
			t.Errorf("%d since now", n)
		}
		w.runFor(time.Minute)
		w.wantState(one, StateDead, ReasonRejected)
		if n := count(Bulk{State: "dead"}); n != 2 {
			t.Errorf("%d were retried", n)
		}
		w.runFor(time.Minute)
		w.wantState(one, StateSent, "")
		w.wantState(two, StateSent, "")

		w.exec(`INSERT INTO notifier_recipients (channel, address, state, reason, since) VALUES ('telegram', '8', 'dead', 'stopped', 1)`)
		n, err := w.box.ReviveAll(context.Background(), w.db, time.Now(), Bulk{State: "dead"})
		if err != nil {
			t.Fatal(err)
		}
		if n != 1 || w.recipient("9").State != RecipientOpen || w.recipient("8").State != RecipientDead {
			t.Errorf("%d were revived", n)
		}
		w.wantState(blocked, StateDead, ReasonChatDead) // what was suppressed stays so
	})
}
