package outbox

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"notifier/internal/database"
)

func TestOnePassSendsWhatIsDueInOrder(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.put("701", "one")
		w.put("702", "hello")
		w.put("701", "two")
		r, err := w.pass()
		if err != nil || r.Sent != 3 || r.Attempts != 3 {
			t.Fatalf("the pass sent %+v, %v", r, err)
		}
		w.wantTexts("701", "one", "two")
		w.wantTexts("702", "hello")
		if r, err := w.pass(); err != nil || r.Attempts != 0 {
			t.Errorf("a second pass made %+v, %v", r, err)
		}
	})
}

func TestAWaitHoldsOneChatAndCostsNoAttempt(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, _ string, nth int) CallResult {
			if address == "501" && nth <= 10 {
				return CallResult{Verdict: Wait, Wait: 3 * time.Second, Answered: true}
			}
			return CallResult{}
		}
		began := time.Now()
		first := w.put("501", "late")
		for i := range 50 {
			w.put(fmt.Sprint(600+i), "soon")
		}
		w.runFor(5 * time.Second)
		if n := len(w.channel.texts("")); n != 50 {
			t.Errorf("%d of the 50 others were sent in 5 s", n)
		}
		w.runFor(time.Minute)
		m := w.message(first)
		if m.State != StateSent || m.Failures != 0 {
			t.Errorf("the message is %s with %d failures", m.State, m.Failures)
		}
		if took := w.channel.sent[50].at.Sub(began); took < 30*time.Second || took > 45*time.Second {
			t.Errorf("it took %v, want ten waits of 3 s and up to 1 s more each", took)
		}
	})
}

func TestAnOutageUsesUpNoAttempt(t *testing.T) {
	inWorlds(t, func(w *world) {
		down := true
		bad := CallResult{Verdict: NotFromChannel, Detail: "502"}
		w.channel.send = func(string, string, int) CallResult {
			if down {
				return bad
			}
			return CallResult{}
		}
		w.channel.touch = func(string) CallResult {
			if down {
				return bad
			}
			return CallResult{}
		}
		w.channel.identify = func() CallResult {
			if down {
				return bad
			}
			return CallResult{}
		}
		var ids []int64
		for i := range 100 {
			ids = append(ids, w.put(fmt.Sprint(700+i), "x"))
		}
		w.runFor(8 * time.Hour)
		calls := 0
		for _, n := range w.channel.calls {
			calls += n
		}
		if calls > 40 {
			t.Errorf("%d calls during the outage", calls)
		}
		if s := w.status(); s.State != SenderWaiting {
			t.Errorf("the sender is %+v", s)
		}
		down = false
		w.runFor(3 * time.Minute)
		for _, id := range ids {
			if m := w.message(id); m.State != StateSent || m.Failures != 0 {
				t.Fatalf("message %d is %s %s with %d failures", id, m.State, m.Reason, m.Failures)
			}
		}
		if n := len(w.channel.sent); n != 100 {
			t.Errorf("%d were delivered", n)
		}
		if s := w.status(); s.State != SenderRunning {
			t.Errorf("the sender is %+v", s)
		}
	})
}

func (w *world) status() SenderStatus {
	w.t.Helper()
	var s SenderStatus
	w.write(func(tx database.Tx) (err error) {
		s, err = w.box.Status(tx, time.Now())
		return err
	})
	return s
}

func TestAPauseEndsThePassAndHoldsAcrossRestarts(t *testing.T) {
	inWorlds(t, func(w *world) {
		id := w.put("801", "x")
		w.write(func(tx database.Tx) error { return w.box.Pause(tx, time.Now()) })
		if r, err := w.pass(); !errors.Is(err, ErrPaused) || r.Attempts != 0 || r.Due != 1 {
			t.Errorf("a pass under a pause: %+v, %v", r, err)
		}
		w.restart()
		w.runFor(100 * time.Hour)
		w.write(func(tx database.Tx) error { return w.box.Resume(tx, time.Now(), "", 0) })
		w.runFor(time.Second)
		w.wantState(id, StateSent, "")
	})
}
