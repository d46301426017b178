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
func judge(m Message, r Recipient, a Answer, c circumstances, p Policy, now time.Time) outcome {
	out := outcome{state: Pending, plain: m.plain, recipient: r, counted: c.counts}
	if !a.Verdict.failure() {
		out.counted = false
	}
	switch a.Verdict {
	case Accepted:
		out.state = Sent
		out.accepted()
	case Wait:
		out.gate(a, now)
	case Uncertain:
		out.uncertain(m, p)
	case NotSent:
		out.counted = false
		if c.counts {
			out.retryIn = probeWait(0)
		}
	case NotTelegram, Failed:
		out.failed(m, p)
	case BotStopped:
	case Moved:
		out.movedTo = a.MovedTo
	case ChatDead, ChatDoubtful:
		if c.epoch == r.epoch && !c.spare {
			out.refused(a, now)
		}
	case Repair:
		out.repair(m)
	case Rejected:
		out.end(Dead, ReasonRejected)
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
}

func (out *outcome) end(s State, reason string) { out.state, out.reason, out.retryIn = s, reason, 0 }

func (out *outcome) accepted() {
	r := &out.recipient
	if r.State == RecipientDoubtful || r.doubtStep > 0 {
		r.State, r.Reason, r.Detail, r.Since = RecipientOpen, "", "", time.Time{}
		r.doubtStep, r.doubtUntil, r.doubtWait = 0, time.Time{}, 0
		out.changed = true
	}
	if r.floodStep > 0 || !r.accepted || r.spared {
		r.floodStep, r.accepted, r.spared = 0, true, false
		out.changed = true
	}
}

// gate keeps calls from the recipient for the time the channel asked for, or, when it named
// none, for one that grows with each such answer; up to a second more, so that many gates do not
// open together. A gate never becomes shorter.
func (out *outcome) gate(a Answer, now time.Time) {
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
func (out *outcome) uncertain(m Message, p Policy) {
	out.doubted = true
	policy := m.OnUncertain
	if policy == "" {
		policy = p.OnUncertain
	}
	if policy == OnUncertainHold || m.Doubts >= 1 || out.counted && m.Failures+1 >= p.MaxAttempts {
		out.end(Unsure, "")
		return
	}
	out.retryIn = resendAfter
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
		out.end(Unsure, "")
		return
	}
	out.end(Dead, ReasonTooManyAttempts)
}

// refused is the answer of a channel that knows no way to the recipient. Some such answers are
// final; the others are probed, in case they come from a fault or a right that comes back.
func (out *outcome) refused(a Answer, now time.Time) {
	r := &out.recipient
	out.changed = true
	if a.Verdict == ChatDead || r.spared {
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
	if r.doubtStep >= len(doubts) { // probed to the end: from now on one try for each message
		r.doubtUntil, r.doubtWait = time.Time{}, 0
		out.endOthers = true
		out.end(Dead, a.Reason)
		return
	}
	wait := doubts[r.doubtStep]
	r.doubtStep++
	r.doubtUntil, r.doubtWait = now.Add(wait), wait
}

func (out *outcome) repair(m Message) {
	if m.plain {
		out.end(Dead, ReasonRejected)
		return
	}
	out.plain = true
}
