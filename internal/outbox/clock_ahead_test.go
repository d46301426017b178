package outbox

import (
	"testing"
	"time"

	"notifier/internal/database"
)

// A clock that was ahead leaves waits in the future behind: at chats with a message in line, and at those
// without one, whose next message must not wait for them either.
func TestWaitsOfAClockThatWasAheadEndForAllChats(t *testing.T) {
	inWorld(t, func(w *world) {
		const year = 365 * 24 * time.Hour
		w.channel.send = func(address, _ string, nth int) CallResult {
			return when(address == "2" && nth == 1, CallResult{Verdict: Wait, Wait: 20 * time.Second, Answered: true})
		}
		ahead := func() time.Time { return time.Now().Add(year) }
		w.config.Wall = ahead
		w.restart()
		w.put("1", "first")
		gated := w.put("2", "gated")
		w.runFor(2 * time.Second)
		w.write(func(tx database.Tx) error {
			_, err := w.box.Cancel(tx, ahead(), gated)
			return err
		})
		w.put("3", "third")
		w.runFor(2 * time.Second)

		w.config.Wall = nil // the clock is set right while nothing runs
		w.restart()
		w.runFor(time.Second)
		next, after := w.put("1", "next"), w.put("2", "after the gate")
		w.runFor(30 * time.Second)
		w.wantState(next, StateSent, "")
		w.wantState(after, StateSent, "")
	})
}

// A start in an outage asks for two things at once: who we are as a greeting, and as a probe. Neither may be
// forgotten over the other.
func TestTheClockBecomesKnownAfterAStartInAnOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		down := true
		answer := func() CallResult { return when(down, CallResult{Verdict: NotFromChannel, Detail: "502"}) }
		w.channel.identify = answer
		w.channel.touch = func(string) CallResult { return answer() }
		w.channel.send = func(string, string, int) CallResult { return answer() }
		ids := []int64{w.put("1", "a"), w.put("2", "b"), w.put("3", "c")}
		w.runFor(time.Minute)
		w.restart()
		w.runFor(time.Second)
		for _, id := range ids { // so that nothing is due, and nothing probed, any more
			w.write(func(tx database.Tx) error {
				_, err := w.box.Cancel(tx, time.Now(), id)
				return err
			})
		}
		down = false
		w.runFor(5 * time.Minute)
		if doubt := w.d.ClockDoubt(); doubt != "" {
			t.Error(doubt)
		}
	})
}
