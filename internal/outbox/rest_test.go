package outbox

import (
	"errors"
	"testing"
	"time"

	"notifier/internal/database"
)

// While something holds up the whole channel and a call is still under way, the process sleeps.
func TestNothingGoesRoundWhileACallHangsUnderAPause(t *testing.T) {
	inWorld(t, func(w *world) {
		w.channel.latency = 20 * time.Second
		rounds := 0
		w.config.Held = func() error { rounds++; return nil }
		w.restart()
		w.put("1", "x")
		go func() {
			time.Sleep(time.Second)
			w.write(func(tx database.Tx) error { return w.box.Pause(tx, time.Now()) })
		}()
		if _, err := w.pass(); !errors.Is(err, ErrPaused) {
			t.Errorf("the pass ended with %v", err)
		}
		if rounds > 20 {
			t.Errorf("%d rounds in 20 s", rounds)
		}
	})
}

// A failure that counts already is not charged again, as a row of failures restored at a start would.
func TestAFailureIsChargedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.channel.send = func(string, string, int) CallResult { return CallResult{Verdict: Failed, Answered: true} }
		id := w.put("1", "x")
		w.runFor(500 * time.Millisecond)
		a := w.attempts(id)[0]
		w.write(func(tx database.Tx) error {
			return w.d.charge(tx, Failure{Attempt: a.ID, Message: id, Address: "1"}, time.Now())
		})
		if m := w.message(id); !a.Counted || m.Failures != 1 {
			t.Errorf("one failure (counted: %v) counts %d times", a.Counted, m.Failures)
		}
	})
}
