package outbox

import (
	"math/rand/v2"
	"time"
)

// outcome is what a verdict does to its message and to the recipient.
type outcome struct {
	state   State
	reason  string // of a message that ended
	retryIn time.Duration
	counted bool          // the attempt counts towards the message's failures
	doubted bool          // the channel may have the message
	plain   bool          // from now on as plain text
	flood   time.Duration // how long the channel told the recipient to wait

	recipient Recipient // as it is from now on
	changed   bool      // the recipient has to be saved
	endOthers bool      // the recipient's waiting messages end like this one
	movedTo   string    // the recipient is an alias of this address from now on
}

// judge says what follows from an answer. It is the table of the delivery rules for one message
// and one recipient; what concerns the whole channel is in breaker.go and canary.go.
//
//	verdict        the message                             the recipient
//	accepted       sent                                    no doubt any more, waits start small again
//	wait           stays, not counted                      gate
//	uncertain      counted; one more try, or uncertain     –
//	not_sent       stays, not counted                      –
//	not_telegram   counted; back-off, or too_many_attempts –
//	failed         counted; back-off, or too_many_attempts –
//	bot_stopped    stays, not counted                      –
//	moved          stays, not counted                      an alias of the new address
//	chat_dead      dead                                    dead, and all that waits for it
//	chat_doubtful  waits for a probe; after the last, dead doubtful, and all that waits dead
//	repair         once more as plain text, or rejected    –
//	rejected       rejected                                –
func judge(m Message, r Recipient, a CallResult, c circumstances, p Policy, now time.Time) outcome {
	out := outcome{state: StatePending, plain: m.plain, recipient: r, counted: c.counts}
	if !a.Verdict.failure() {
		out.counted = false
	}
	switch a.Verdict {
	case Accepted:
		out.state = StateSent
		out.accepted(c)
	case Wait:
		out.gate(a, now)
	case Uncertain:
		out.uncertain(m, c, p)
	case NotSent:
		out.counted = false
		if c.counts {
			out.retryIn = probeWait(0)
		}
	case NotFromChannel, Failed:
		out.failed(m, p)
	case BotStopped:
	case Moved:
		out.movedTo = a.MovedTo
	case ChatDead, ChatDoubtful:
		if c.epoch == r.epoch && !c.spare {
			out.refused(a, c, now)
		}
	case Repair:
		out.repair(m)
	case Rejected:
		out.end(StateDead, ReasonRejected)
	}
	return out
}

// circumstances are what judge has to know besides the message, the recipient and the answer.
type circumstances struct {
	// epoch is the recipient's when the call began. If it has shown life since, a refusal is about
	// the past.
	epoch int64
	// counts is false for a failure that an outage explains: it uses up no attempt and needs no
	// back-off.
	counts bool
	// spare is true while the guard holds: a refusal kills nobody.
	spare bool
	// identity is who we are at the channel: acceptances are remembered by it.
	identity string
	// sendTimeout is how long one call may take.
	sendTimeout time.Duration
}

func (out *outcome) end(s State, reason string) { out.state, out.reason, out.retryIn = s, reason, 0 }

func (out *outcome) accepted(c circumstances) {
	r := &out.recipient
	if r.State == RecipientDoubtful || r.doubtStep > 0 {
		r.open()
		out.changed = true
	}
	if r.floodStep > 0 || !r.accepts(c.identity) || r.spared {
		r.floodStep, r.acceptedBy, r.spared = 0, c.identity, false
		out.changed = true
	}
}

// gate keeps calls from the recipient for the time the channel asked for, or, when it named
// none, for one that grows with each such answer; up to a second more, so that many gates do not
// open together. A gate never becomes shorter.
func (out *outcome) gate(a CallResult, now time.Time) {
	r := &out.recipient
	wait := a.Wait
	if wait <= 0 {
		wait = floodWait(r.floodStep)
		r.floodStep++
	}
	wait += rand.N(time.Second) //nolint:gosec // spreads load, guards nothing
	out.flood = wait
	if until := now.Add(wait); until.After(r.GateUntil) {
		r.GateUntil, r.gateWait = until, wait
	}
	out.changed = true
}

// uncertain allows one more try, and none under the policy to hold. A message that has used up
// its attempts ends as uncertain too: dead would claim that nobody got it.
func (out *outcome) uncertain(m Message, c circumstances, p Policy) {
	out.doubted = true
	policy := m.OnUncertain
	if policy == "" {
		policy = p.OnUncertain
	}
	if policy == OnUncertainHold || m.Doubts >= 1 || out.counted && m.Failures+1 >= p.MaxAttempts {
		out.end(StateUncertain, "")
		return
	}
	out.retryIn = resendAfter(c.sendTimeout)
}

func (out *outcome) failed(m Message, p Policy) {
	if !out.counted {
		return
	}
	if m.Failures+1 < p.MaxAttempts {
		out.retryIn = backoff(m.Failures+1, rand.Float64()) //nolint:gosec // spreads load, guards nothing
		return
	}
	if m.Doubts > 0 {
		out.end(StateUncertain, "")
		return
	}
	out.end(StateDead, ReasonTooManyAttempts)
}

// refused is the answer of a channel that knows no way to the recipient. Some such answers are
// final; the others are probed three times, in case they come from a fault or a right that comes
// back. When the last probe fails, all that waits ends; later messages get one try each.
func (out *outcome) refused(a CallResult, c circumstances, now time.Time) {
	r := &out.recipient
	out.changed = true
	if a.Verdict == ChatDead || r.spared && r.accepts(c.identity) {
		if r.State != RecipientDead {
			r.State, r.Reason, r.Detail, r.Since = RecipientDead, a.Reason, a.Detail, now
			if a.Verdict != ChatDead {
				r.Reason = RecipientOther
			}
		}
		out.endOthers = true
		out.end(r.fate())
		return
	}
	if r.State != RecipientDoubtful {
		r.State, r.Reason, r.Detail, r.Since = RecipientDoubtful, RecipientOther, a.Detail, now
		r.doubtStep = 0
	}
	step := r.doubtStep
	r.doubtStep = min(step+1, len(doubts)+1)
	if step < len(doubts) {
		r.doubtUntil, r.doubtWait = now.Add(doubts[step]), doubts[step]
		return
	}
	r.doubtUntil, r.doubtWait = time.Time{}, 0
	out.endOthers = step == len(doubts)
	out.end(StateDead, a.Reason)
}

func (out *outcome) repair(m Message) {
	if m.plain {
		out.end(StateDead, ReasonRejected)
		return
	}
	out.plain = true
}

// backoffs are the waits after the first, second, … counted failure of a message. The last one
// serves all further failures.
var backoffs = []time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute,
	10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

// backoff is how long a message waits after its nth counted failure, spread by a fifth to either
// side so that messages which failed together do not return together. random is from [0, 1).
func backoff(failures int, random float64) time.Duration {
	step := backoffs[min(max(failures, 1), len(backoffs))-1]
	return time.Duration(float64(step) * (0.8 + 0.4*random))
}

// Waits when the channel says "too fast" without saying for how long: from 5 s, doubling to 60 s.
func floodWait(step int) time.Duration {
	return min(5*time.Second<<min(step, 10), time.Minute)
}

// doubts are the waits before each probe of a doubtful recipient, after its first refusal.
var doubts = []time.Duration{time.Minute, 10 * time.Minute, time.Hour}

// resendAfter is how long a message that the channel may have taken waits at least for its one
// further try: 30 s, or as long as a call may take where that is longer.
func resendAfter(sendTimeout time.Duration) time.Duration { return max(30*time.Second, sendTimeout) }

// probeWait is the ladder of an outage: 1 s, doubling to 60 s.
func probeWait(step int) time.Duration {
	return min(time.Second<<min(step, 10), time.Minute)
}
