package outbox

import (
	"fmt"
	"testing"
	"time"
)

// A chat that dies while a call to it is under way takes that message along as well, when its
// answer would let it wait on.
func TestAChatThatDiesDuringACallTakesItsMessageAlong(t *testing.T) {
	blocked := func(w *world) { w.leave("1", time.Time{}) }
	stopped := func(w *world) { w.stop("1") }
	for _, c := range []struct {
		dies   func(*world)
		answer CallResult
		state  State
		reason string
	}{
		{stopped, CallResult{Verdict: Wait, Wait: time.Minute, Answered: true}, StateCanceled, ReasonStopped},
		{blocked, CallResult{Verdict: Wait, Wait: time.Minute, Answered: true}, StateDead, ReasonChatDead},
		{blocked, CallResult{Verdict: Failed, Answered: true}, StateDead, ReasonChatDead},
		{blocked, CallResult{Verdict: NotSent}, StateDead, ReasonChatDead},
		{blocked, CallResult{Verdict: Repair, Answered: true}, StateDead, ReasonChatDead},
		{blocked, CallResult{Verdict: Uncertain}, StateUncertain, ""},
	} {
		t.Run(fmt.Sprint(c.answer.Verdict, " ", c.reason), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.channel.send = func(_, _ string, nth int) CallResult {
					if nth == 1 {
						c.dies(w)
						return c.answer
					}
					return CallResult{}
				}
				id := w.put("1", "x")
				w.runFor(time.Minute)
				w.wantState(id, c.state, c.reason)
			})
		})
	}
}
