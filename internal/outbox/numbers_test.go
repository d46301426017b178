package outbox

import (
	"fmt"
	"testing"
	"time"
)

// The numbers of the delivery rules: one before and one after each, by a process that lives and by one that
// is killed between any two steps, and remembers nothing but what is stored.

// withRestarts runs a test twice; between is to be called between its steps.
func withRestarts(t *testing.T, test func(w *world, between func())) {
	t.Helper()
	for name, restarts := range map[string]bool{"one process": false, "a process for each step": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				test(w, func() {
					if restarts {
						w.restart()
					}
				})
			})
		})
	}
}

// totalCalls is how many messages were tried.
func (w *world) totalCalls() (n int) {
	w.channel.mu.Lock()
	defer w.channel.mu.Unlock()
	for _, c := range w.channel.calls {
		n += c
	}
	return n
}

func TestTwoFailuresInARowCountAndThreeAreAnOutage(t *testing.T) {
	for _, failures := range []int{2, 3} {
		withRestarts(t, func(w *world, between func()) {
			w.channel.send = func(string, string, int) CallResult { return CallResult{Verdict: NotFromChannel, Detail: "502"} }
			var ids []int64
			for i := range failures {
				ids = append(ids, w.put(fmt.Sprint(1+i), "x"))
				w.runFor(200 * time.Millisecond)
				between()
			}
			w.runFor(time.Millisecond) // a new process reads what is stored
			open, want := w.d.machine.breaker.Open(), failures == 3
			if open != want {
				w.t.Errorf("after %d failures an outage: %v", failures, open)
			}
			for i, id := range ids {
				if n := w.message(id).Failures; (n == 0) != want {
					w.t.Errorf("of %d, failure %d counts %d times", failures, i+1, n)
				}
			}
		})
	}
}

func TestFourChatsInARowDieAndFiveAreTakenBack(t *testing.T) {
	for _, refused := range []int{4, 5} {
		withRestarts(t, func(w *world, between func()) {
			chats := fiveTo(refused)
			w.acquaint(chats...)
			w.channel.send = func(string, string, int) CallResult {
				return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
			}
			var ids []int64
			for _, chat := range chats {
				between()
				ids = append(ids, w.put(chat, "x"))
				w.runFor(2 * time.Second)
			}
			between()
			w.runFor(time.Second)
			for i, id := range ids {
				if m := w.message(id); (m.State == StateDead) != (refused == 4) {
					w.t.Errorf("of %d refused chats, the message to number %d is %s", refused, i+1, m.State)
				}
			}
			if holds := w.d.machine.guard.Active(); holds != (refused == 5) {
				w.t.Errorf("after %d refused chats the guard holds: %v", refused, holds)
			}
		})
	}
}

func TestTheGuardTriesOnceInAMinute(t *testing.T) {
	withRestarts(t, func(w *world, between func()) {
		chats := fiveTo(8)
		w.acquaint(chats...)
		w.channel.send = func(string, string, int) CallResult {
			return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
		}
		for _, chat := range chats[:5] {
			w.put(chat, "x")
			w.runFor(2 * time.Second)
		}
		for _, chat := range chats[5:] {
			w.put(chat, "x")
		}
		before := w.totalCalls()
		for minute := range 5 {
			for range 6 {
				between()
				w.runFor(10 * time.Second)
			}
			if n := w.totalCalls() - before; n != minute+1 {
				w.t.Errorf("%d calls in %d minutes", n, minute+1)
			}
		}
	})
}

func TestTheEighthFailureEndsAMessage(t *testing.T) {
	withRestarts(t, func(w *world, between func()) {
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(address == "1", CallResult{Verdict: Failed, Detail: "500", Answered: true})
		}
		id := w.put("1", "x")
		for failures := 1; failures <= 8; failures++ {
			w.runFor(200 * time.Millisecond)
			m := w.message(id)
			if m.Failures != failures || (m.State == StateDead) != (failures == 8) {
				w.t.Errorf("after %d tries it is %s %s with %d failures", failures, m.State, m.Reason, m.Failures)
			}
			w.put("2", "accepted between")
			w.runFor(2 * time.Second)
			between()
			if m.State == StatePending {
				wait := time.Until(m.RetryAt)
				w.runFor(wait - 300*time.Millisecond)
				if n := w.message(id).Failures; wait > time.Second && n != failures {
					w.t.Errorf("it was tried before its back-off was over")
				}
				between()
				w.runFor(300 * time.Millisecond)
			}
		}
		w.wantState(id, StateDead, ReasonTooManyAttempts)
	})
}

func TestThreeProbesEndADoubtfulChat(t *testing.T) {
	withRestarts(t, func(w *world, between func()) {
		w.channel.send = func(string, string, int) CallResult {
			return CallResult{Verdict: ChatDoubtful, Reason: ReasonChatNotFound, Answered: true}
		}
		id := w.put("1", "x")
		second := w.put("1", "y")
		w.runFor(time.Second)
		for probe, wait := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
			w.wantState(id, StatePending, "")
			between()
			w.runFor(wait - 10*time.Second)
			if n := w.totalCalls(); n != probe+1 {
				w.t.Errorf("%d calls before probe %d", n, probe+1)
			}
			between()
			w.runFor(11 * time.Second)
			if n := w.totalCalls(); n != probe+2 {
				w.t.Errorf("%d calls after probe %d", n, probe+1)
			}
		}
		w.wantState(id, StateDead, ReasonChatNotFound)
		w.wantState(second, StateDead, ReasonChatNotFound)
	})
}

func TestTheNextCanaryGoesAfterThreeSeconds(t *testing.T) {
	now := time.Now()
	m, _ := channelMachine{}.step(answeredEvent{attempt: 1, address: "1", started: now, answer: CallResult{Verdict: Wait, Wait: time.Hour}}, now)
	m, _ = m.step(startedEvent{2}, now)
	for after, calls := range map[time.Duration]int{0: 0, 3*time.Second - 1: 0, 3 * time.Second: 1} {
		if p := m.may(now.Add(after), true); p.calls != calls {
			t.Errorf("%v after a canary %d calls may start, want %d", after, p.calls, calls)
		}
	}
	m, _ = m.step(answeredEvent{attempt: 2, address: "2", started: now, answer: CallResult{Verdict: Accepted}}, now)
	if p := m.may(now, true); p.calls != anyNumber {
		t.Errorf("after its answer %d calls may start", p.calls)
	}
}

func TestAMessageEndsAtSeventyTwoHours(t *testing.T) {
	withRestarts(t, func(w *world, between func()) {
		w.put("2", "so that the clock is known")
		w.runFor(time.Second)
		id := w.put("1", "x")
		w.exec(`UPDATE notifier_recipients SET gate_until = 2000000000000, gate_wait = 400000000000 WHERE address = '1'`)
		w.d.Wake()
		between()
		w.runFor(72*time.Hour - time.Second)
		w.wantState(id, StatePending, "")
		between()
		w.runFor(2 * time.Second)
		w.wantState(id, StateDead, ReasonExpired)
	})
}

func TestAWaitHoldsForItsNumberAndASecondMore(t *testing.T) {
	withRestarts(t, func(w *world, between func()) {
		w.channel.send = func(_, _ string, nth int) CallResult {
			return when(nth == 1, CallResult{Verdict: Wait, Wait: 20 * time.Second, Answered: true})
		}
		id := w.put("1", "x")
		w.runFor(time.Second)
		between()
		w.runFor(19*time.Second - time.Millisecond) // 20 s after its start; the answer came 50 ms later
		w.wantState(id, StatePending, "")
		between()
		w.runFor(time.Second + 200*time.Millisecond)
		w.wantState(id, StateSent, "")
	})
}

func TestTheClockMayDifferByFiveMinutes(t *testing.T) {
	wall := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for skew, trusted := range map[time.Duration]bool{
		5 * time.Minute: true, 5*time.Minute + time.Millisecond: false, -5 * time.Minute: true, -5*time.Minute - time.Millisecond: false,
	} {
		c := NewClock(func() time.Time { return wall })
		if c.Heard(wall.Add(-skew)); c.Trusted() != trusted {
			t.Errorf("%v ahead: trusted %v", skew, c.Trusted())
		}
	}
}
