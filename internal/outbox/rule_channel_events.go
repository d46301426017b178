package outbox

import "time"

// storedEvent is what is stored about the sender, by a person or by ourselves.
type storedEvent struct {
	sender   senderRow
	identity string // ours
}

func (e storedEvent) apply(m *channelMachine, _ time.Time) ruling {
	m.paused = !e.sender.pausedAt.IsZero()
	if e.sender.gateUntil.IsZero() {
		m.gate = time.Time{} // released
	}
	if e.sender.guard.IsZero() && m.guard.Active() {
		m.guard.Release()
	}
	m.identity = nil
	if e.sender.identity != e.identity {
		m.identity = otherIdentity(e.sender.identity, e.identity)
	}
	return ruling{}
}

// storedChannel is what is on disk about the whole channel, for a process that begins.
type storedChannel struct {
	sender   senderRow
	failures []Failure // the last ones with nothing accepted after them, oldest first
	detail   string    // what the channel said at the last of them
	refused  []string  // the chats refused since the last acceptance that had accepted before
	lastCall time.Time // when the newest call began
}

// restoreMachine is the machine with which a process begins.
func restoreMachine(s storedChannel, identity string, now time.Time) channelMachine {
	m, _ := channelMachine{}.step(storedEvent{s.sender, identity}, now)
	if gate := onClock(s.sender.gateUntil, s.sender.gateWait, now); gate.After(now) {
		m.gate = gate
		m.canary.NewSpell(now)
	}
	m.breaker.Restore(s.failures, s.detail, now)
	m.guard.Restore(s.refused, s.sender.guard, s.lastCall, now)
	return m
}

// onlyDoubtedEvent says that all due messages wait for a sign of life, while the breaker wants one of
// them as its canary.
type onlyDoubtedEvent struct{}

func (onlyDoubtedEvent) apply(m *channelMachine, now time.Time) ruling {
	m.breaker.OnlyDoubted(m.waits.touch, now)
	return ruling{}
}

// startedEvent is a call that begins.
type startedEvent struct{ attempt int64 }

func (e startedEvent) apply(m *channelMachine, now time.Time) ruling {
	if !m.canary.Free() {
		m.canary.Started(e.attempt, now)
	}
	if m.breaker.Open() {
		m.breaker.CanaryStarted(e.attempt)
	}
	if m.guard.Active() {
		m.guard.Tried(now)
	}
	return ruling{}
}

// noOtherEvent says that no other recipient than the one to avoid has a message that is due.
type noOtherEvent struct{}

func (noOtherEvent) apply(m *channelMachine, _ time.Time) ruling {
	m.breaker.NoOther()
	return ruling{}
}

// answeredEvent is the answer to a call.
type answeredEvent struct {
	attempt, message int64
	address          string
	started          time.Time
	answer           CallResult
	accepted, spared bool // of the recipient, see Guard
}

func (e answeredEvent) apply(m *channelMachine, now time.Time) ruling {
	var r ruling
	a := e.answer
	m.hear(a)
	wait := a.Wait
	if wait <= 0 {
		wait = floodWait(0)
	}
	if r.gate = m.canary.Ended(e.attempt, e.started, a.Verdict, wait, now); r.gate > 0 {
		m.gate = latest(m.gate, now.Add(r.gate))
	}
	switch {
	case a.Verdict == Accepted:
		r.charge = m.breaker.Accepted(e.address)
		r.guardEnded = m.guard.Accepted()
		m.seen(now)
	case a.Verdict == BotStopped:
		m.breaker.Refused(e.attempt, a.Detail, now)
	case a.Verdict.failure():
		r.counts, r.uncount = m.breaker.Failed(Failure{e.attempt, e.message, e.address, true}, a.Detail, now)
	default:
		m.breaker.Answered(e.attempt, now)
		if a.Verdict == ChatDead || a.Verdict == ChatDoubtful {
			r.back = m.guard.Refused(e.address, e.accepted, e.spared, now)
			r.spare = m.guard.Active()
		}
	}
	return r
}

// hear notes whether the channel answers at all, also while the breaker sees no outage: a night
// with nothing to send, or with one message that nobody answers, has no three failures in a row.
func (m *channelMachine) hear(a CallResult) {
	switch {
	case a.Answered:
		m.silence = ""
	case a.Verdict.failure():
		m.silence = a.Detail
	}
}

// seen notes a sign of life.
func (m *channelMachine) seen(at time.Time) {
	m.signs.last, m.signs.step, m.signs.at = at, 0, time.Time{}
}

// askingEvent is a probe that begins. Where its method was told to wait, the breaker's question
// counts as answered: the channel did answer, and wants to be left alone.
type askingEvent struct{ probe probe }

func (e askingEvent) apply(m *channelMachine, _ time.Time) ruling {
	switch e.probe {
	case probeGreeting:
		m.greeting.asking = true
	case probeIdentify:
		m.breaker.Identifying()
	case probeTouch:
		m.breaker.Touching()
	case probeSign:
		m.signs.asking = true
	case probeNone:
	}
	return ruling{}
}

// clockSetEvent says that the wall clock was set: the channel is asked for its time anew.
type clockSetEvent struct{}

func (clockSetEvent) apply(m *channelMachine, _ time.Time) ruling {
	m.greeting = greeting{asking: m.greeting.asking}
	return ruling{}
}

// askedEvent is the answer to a probe. skipped: it was not made, because its method has to wait.
type askedEvent struct {
	probe   probe
	answer  CallResult
	skipped bool
}

func (e askedEvent) apply(m *channelMachine, now time.Time) ruling {
	a := e.answer
	if !e.skipped {
		m.hear(a)
	}
	if a.Verdict == Wait {
		until := now.Add(max(a.Wait, floodWait(0)))
		if e.probe == probeTouch || e.probe == probeSign {
			m.waits.touch = until
		} else {
			m.waits.identify = until
		}
	}
	switch e.probe {
	case probeGreeting:
		m.greeted(a, now)
	case probeIdentify:
		m.breaker.Identified(a, now)
	case probeTouch:
		m.breaker.Touched(a, now)
	case probeSign:
		m.signs.asking = false
		if !a.Answered {
			m.signs.at = now.Add(probeWait(m.signs.step))
			m.signs.step++
		}
	case probeNone:
	}
	if a.Answered && !e.skipped && (e.probe == probeTouch || e.probe == probeSign) {
		m.seen(now)
	}
	return ruling{}
}

func (m *channelMachine) greeted(a CallResult, now time.Time) {
	m.greeting.asking = false
	if a.Verdict == BotStopped {
		m.breaker.Refused(0, a.Detail, now)
	}
	if m.greeting.done = a.Answered; !a.Answered {
		m.greeting.at = now.Add(probeWait(m.greeting.step))
		m.greeting.step++
	}
}
