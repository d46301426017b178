package outbox

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"notifier/internal/database"
)

// withClock lets the processes of a test read a wall clock that can be set.
func (w *world) withClock() *atomic.Int64 {
	var offset atomic.Int64
	w.config.Wall = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	w.restart()
	return &offset
}

// A message that the channel may have is asked for a sign of life, not over and over: the process
// that stored its doubt had a clock that was ahead.
func TestADoubtFromTheFutureWaitsForOneSignOfLife(t *testing.T) {
	inWorld(t, func(w *world) {
		offset := w.withClock()
		w.channel.send = func(_, _ string, nth int) CallResult {
			return when(nth == 1, CallResult{Verdict: Uncertain, Detail: "timeout"})
		}
		w.channel.touch = func(string) CallResult { return CallResult{Verdict: NotSent} }
		offset.Store(int64(24 * time.Hour))
		w.restart()
		id := w.put("1", "x")
		w.runFor(time.Second)
		w.channel.touch = nil
		offset.Store(0)
		w.restart()
		probes := w.channel.probes
		w.runFor(time.Minute)
		w.wantState(id, StateSent, "")
		if n := w.channel.probes - probes; n > 2 {
			t.Errorf("%d questions for a sign of life", n)
		}
	})
}

// The first question of a process, who we are, is not lost behind the questions of an outage.
func TestTheFirstQuestionIsAskedUntilItIsAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		nobody := CallResult{Verdict: NotSent, Detail: "refused"}
		w.channel.send = func(string, string, int) CallResult { return nobody }
		w.channel.touch = func(string) CallResult { return nobody }
		w.channel.identify = func() CallResult { return nobody }
		for i := range 3 {
			w.put(fmt.Sprint(i+1), "x")
		}
		w.runFor(10 * time.Minute)
		w.restart()
		w.runFor(10 * time.Minute)
		w.channel.identify = nil
		w.runFor(2 * time.Minute)
		if !w.d.machine.greeting.done {
			t.Errorf("the first question: %+v", w.d.machine.greeting)
		}
	})
}

// Messages that were stored while the wall clock was ahead go at once when it is set right, whether
// a process ran meanwhile, or begins afterwards.
func TestMessagesOfAClockThatWasAheadDoNotWaitForIt(t *testing.T) {
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprint("running ", running), func(t *testing.T) {
			inWorld(t, func(w *world) {
				offset := w.withClock()
				if running {
					w.runFor(time.Second)
				}
				w.write(func(tx database.Tx) error { return w.box.Pause(tx, time.Now()) })
				first := w.put("1", "first")
				offset.Store(int64(30 * 24 * time.Hour))
				var m Message
				w.write(func(tx database.Tx) (err error) {
					m, err = w.box.Enqueue(tx, w.config.Wall(), NewMessage{Recipient: "1", Type: "Text", Payload: map[string]string{"text": "x"}})
					return err
				})
				if running {
					w.runFor(time.Second)
				}
				offset.Store(0)
				w.write(func(tx database.Tx) error { return w.box.Resume(tx, time.Now(), "", 0) })
				w.runFor(time.Minute)
				w.wantState(first, StateSent, "")
				w.wantState(m.ID, StateSent, "")
			})
		})
	}
}

// Nothing expires until the channel has told its time after the clock was set, so it is asked for it
// though there is nothing to send.
func TestTheChannelIsAskedForItsTimeWhenTheClockWasSet(t *testing.T) {
	inWorld(t, func(w *world) {
		offset := w.withClock()
		id := w.put("customer:1", "x", func(n *NewMessage) { n.ExpiresAt = time.Now().Add(time.Hour) })
		w.runFor(time.Minute)
		offset.Store(int64(time.Minute))
		w.runFor(2 * time.Hour)
		w.wantState(id, StateDead, ReasonExpired)
	})
}
