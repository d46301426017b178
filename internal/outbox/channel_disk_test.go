package outbox

import (
	"slices"
	"time"
)

// channelDisk is what of a history is stored, as far as a restart reads it.
type channelDisk struct {
	sender           senderRow
	attempts         []storedAttempt // oldest first
	accepted, spared map[string]bool // of chats
}

type storedAttempt struct {
	call        flyingCall
	result      Verdict
	counted     bool
	interrupted bool
}

func (d *channelDisk) open(c flyingCall) {
	d.attempts = append(d.attempts, storedAttempt{call: c, result: Open})
	d.attempts = d.attempts[max(0, len(d.attempts)-300):]
}

func (d *channelDisk) attempt(id int64) *storedAttempt {
	for i := range d.attempts {
		if d.attempts[i].call.attempt == id {
			return &d.attempts[i]
		}
	}
	return &storedAttempt{}
}

// interrupt ends the attempts that a killed process has left open.
func (d *channelDisk) interrupt(calls []flyingCall) {
	for _, c := range calls {
		if a := d.attempt(c.attempt); a.result == Open {
			a.result, a.counted, a.interrupted = Uncertain, true, true
		}
	}
}

// record stores an answer and what the rules decided.
func (d *channelDisk) record(e answeredEvent, r ruling, now time.Time) {
	if a := d.attempt(e.attempt); a.result == Open {
		a.result, a.counted = e.answer.Verdict, r.counts
	}
	for _, f := range r.uncount {
		d.attempt(f.Attempt).counted = false
	}
	if r.charge != nil {
		d.attempt(r.charge.Attempt).counted = true
	}
	if e.answer.Verdict == Accepted {
		d.accepted[e.address], d.spared[e.address] = true, false
	}
	for _, address := range r.back {
		d.spared[address] = true
	}
	switch {
	case len(r.back) > 0:
		d.sender.guard = now
	case r.guardEnded:
		d.sender.guard = time.Time{}
	}
	if r.gate > 0 {
		d.sender.gateUntil, d.sender.gateWait = now.Add(r.gate), r.gate
	}
}

// read is what Dispatcher.restore reads.
func (d *channelDisk) read() storedChannel {
	s := storedChannel{sender: d.sender, detail: "502", lastCall: d.newest()}
	for _, a := range slices.Backward(d.attempts[max(0, len(d.attempts)-50):]) {
		if a.result == Accepted {
			break
		}
		if a.result.failure() && !a.interrupted && len(s.failures) < breakerLimit {
			s.failures = append(s.failures, Failure{a.call.attempt, a.call.attempt, a.call.address, a.counted})
		}
	}
	slices.Reverse(s.failures)
	for _, a := range slices.Backward(d.attempts[max(0, len(d.attempts)-200):]) {
		if a.result == Accepted {
			break
		}
		to := a.call.address
		if (a.result == ChatDead || a.result == ChatDoubtful) && d.accepted[to] && !d.spared[to] && !slices.Contains(s.refused, to) {
			s.refused = append(s.refused, to)
		}
	}
	s.refused = s.refused[:min(len(s.refused), guardLimit-1)]
	slices.Reverse(s.refused)
	return s
}

// newest is when the newest call began.
func (d *channelDisk) newest() time.Time {
	if len(d.attempts) == 0 {
		return time.Time{}
	}
	return d.attempts[len(d.attempts)-1].call.started
}
