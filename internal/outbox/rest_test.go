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
