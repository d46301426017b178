package outbox

import (
	"slices"
	"time"
)

// moods are how the channel answers for a while: which verdicts, the first ones more often.
var moods = [][]Verdict{
	{Accepted, Accepted, Accepted, Accepted, Rejected, Wait},
	{Failed, NotSent, NotFromChannel, Uncertain, Failed},
	{Failed, NotFromChannel, Failed, NotSent, Failed, Failed, Rejected, Repair},
	{Wait, Wait, Wait, Wait, Rejected, Uncertain, Accepted},
	{ChatDead, ChatDoubtful, ChatDead, ChatDead, ChatDead, Wait, Failed},
	{ChatDead, ChatDoubtful, ChatDead, ChatDoubtful, ChatDead, ChatDead, Accepted},
	{Rejected, Rejected, Repair, Rejected, Rejected, Rejected, Accepted},
	{Accepted, Accepted, Accepted, Accepted, Accepted, Accepted, Accepted, Accepted, BotStopped},
	{Accepted, Wait, Uncertain, NotSent, NotFromChannel, BotStopped, Moved, ChatDead, ChatDoubtful, Repair, Rejected, Failed},
}

// verdict is one of the present mood; of the poisoned chat mostly a failure.
func (h *channelHistory) verdict(address string) CallResult {
	v := moods[h.mood][h.random.IntN(len(moods[h.mood]))]
	if address != "" && address == h.poisoned && h.random.IntN(10) > 0 {
		v = Failed
	}
	a := CallResult{Verdict: v, Detail: string(v), Answered: !v.failure() || v == Failed && h.random.IntN(2) == 0, OK: v == Accepted}
	if v == Wait && h.random.IntN(3) > 0 {
		a.Wait = time.Duration(1+h.random.IntN(40)) * time.Second
	}
	return a
}

// answer brings back the answer to a call.
func (h *channelHistory) answer() {
	if len(h.calls) == 0 {
		return
	}
	i := h.random.IntN(len(h.calls))
	c := h.calls[i]
	h.calls = slices.Delete(slices.Clone(h.calls), i, i+1)
	accepted := h.disk.accepted[c.address]
	e := answeredEvent{
		attempt: c.attempt, message: c.attempt, address: c.address, started: c.started, answer: h.verdict(c.address),
		accepted: accepted, spared: accepted && h.disk.spared[c.address],
	}
	stage := h.machine.canary.stage
	r := h.apply(e)
	h.spec.answered(e, r, h.now)
	h.disk.record(e, r, h.now)
	for what, so := range map[string]bool{
		"outage": r.outage > 0, "canary counts": r.counts && h.machine.breaker.Open(), "charged": r.charge != nil, "gate": r.gate > 0,
		"second canary": stage == 1 && h.machine.canary.stage == 2, "guard": len(r.back) > 0, "guard ended": r.guardEnded,
		"token rejected": h.machine.breaker.Stopped(), "wait 60s": h.spec.outage.steps > 6,
	} {
		if so {
			h.seen[what]++
		}
	}
	if wasOn := r.outage < 0 || h.machine.breaker.Open() && r.outage == 0; wasOn != (r.outage != 1 && (r.outage == -1 || h.spec.outage.on)) {
		h.fatal("the outage begins or ends: %d", r.outage)
	}
}

// answerProbe brings back the answer to a probe.
func (h *channelHistory) answerProbe() {
	if len(h.asked) == 0 {
		return
	}
	i := h.random.IntN(len(h.asked))
	p := h.asked[i]
	h.asked = slices.Delete(slices.Clone(h.asked), i, i+1)
	a := h.verdict("")
	if h.random.IntN(2) == 0 {
		a = CallResult{Verdict: Accepted, OK: true, Answered: true}
	}
	h.apply(askedEvent{probe: p, answer: a})
	h.spec.asked(p, a, h.now)
}

// person pauses, resumes, releases, or gives the database to another bot and back.
func (h *channelHistory) person() {
	s := &h.disk.sender
	switch h.random.IntN(4) {
	case 0:
		s.pausedAt = h.now
	case 1:
		s.pausedAt = time.Time{}
	case 2:
		s.gateUntil, s.gateWait, s.guard = time.Time{}, 0, time.Time{}
	case 3:
		if s.identity == "1" {
			s.identity = "2"
		} else {
			s.identity = "1"
		}
	}
	if h.random.IntN(2) == 0 { // nobody waits for ever
		s.pausedAt, s.identity = time.Time{}, "1"
	}
}

// kill ends the process, with all that it remembers.
func (h *channelHistory) kill() {
	h.seen["kill"]++
	for what, so := range map[string]bool{"kill in an outage": h.spec.outage.on, "kill under the guard": h.spec.guard.on,
		"kill under the gate": h.spec.gate.After(h.now)} {
		if so {
			h.seen[what]++
		}
	}
	h.disk.interrupt(h.calls)
	h.calls = nil
	h.now = h.now.Add(time.Duration(h.random.IntN(3)*h.random.IntN(20_000)) * time.Millisecond)
	h.restart()
}

// restart begins with what is stored.
func (h *channelHistory) restart() {
	h.note("restart", paused(h.disk.sender))
	stored := h.disk.read()
	h.asked = nil
	h.machine = restoreMachine(stored, "1", h.now)
	s := h.spec
	s.gate = time.Time{}
	s.flood = floodSpec{}
	if until := stored.sender.gateUntil; until.After(h.now) {
		s.gate = until
		s.flood.spell(h.now)
	}
	s.outage = outageSpec{row: stored.failures}
	if len(stored.failures) == 3 {
		s.outage.begin(h.now, 0)
	}
	s.guard = guardSpec{row: stored.refused}
	if guard := stored.sender.guard; !guard.IsZero() {
		s.guard = guardSpec{on: true, last: latest(guard, h.disk.newest())}
	}
}

// check is what holds after each step.
func (h *channelHistory) check() {
	m, s, p := h.machine, h.spec, h.machine.may(h.now, true)
	held := m.identity != nil || m.paused || s.gate.After(h.now)
	switch {
	case held && (p.calls != 0 || p.probe != probeNone || p.held == nil):
		h.fatal("the channel is held, and it may %+v", p)
	case m.breaker.Open() != s.outage.on:
		h.fatal("the outage is on: %v, want %v", m.breaker.Open(), s.outage.on)
	case !m.breaker.Open() && len(m.breaker.row) >= 3:
		h.fatal("no outage after %d failures in a row", len(m.breaker.row))
	case m.guard.Active() != s.guard.on || !slices.Equal(m.guard.row, s.guard.row):
		h.fatal("the guard holds: %v %v, want %v %v", m.guard.Active(), m.guard.row, s.guard.on, s.guard.row)
	case m.canary.Free() != (s.flood.stage == 0) || m.canary.Private() != (s.flood.stage == 2):
		h.fatal("calls are free: %v, private: %v, want stage %d", m.canary.Free(), m.canary.Private(), s.flood.stage)
	case !m.gate.Equal(s.gate) && (m.gate.After(h.now) || s.gate.After(h.now)):
		h.fatal("the gate is %v, want %v", m.gate, s.gate)
	case !m.canary.Free() && p.calls > 1, m.guard.Active() && p.calls > 1, m.breaker.Open() && p.calls > 1:
		h.fatal("%d calls may start", p.calls)
	}
	h.checkMoving(p, held)
}

// checkMoving sees that something will happen, whatever holds things up.
func (h *channelHistory) checkMoving(p permit, held bool) {
	m, o := h.machine, h.spec.outage
	isAsked := func(p probe) bool { return slices.Contains(h.asked, p) }
	canary := slices.ContainsFunc(h.calls, func(c flyingCall) bool { return c.attempt == o.canary })
	switch {
	case m.identity != nil || m.paused: // a person has to act
	case p.calls > 0 || p.probe != probeNone || p.until.After(h.now):
	case o.on && o.asking != probeNone && isAsked(o.asking), o.on && o.canary != 0 && canary: // an answer has to come
	default:
		h.fatal("stuck: it may %+v, asked are %v, under way %+v", p, h.asked, h.calls)
	}
	if !held && o.on && o.canary == 0 && o.asking == probeNone && o.climbed == probeNone && !o.shortcut {
		if due := o.rested.Add(o.wait); !due.After(h.now) && p.probe != probeIdentify || due.After(h.now) && !p.until.Equal(due) {
			h.fatal("the next question is due at %v, and it may %+v", due.Sub(h.now), p)
		}
	}
	if greet, at := m.mayGreet(h.now); !greet && at.IsZero() && !m.greeting.done && m.identity == nil && !isAsked(probeGreeting) {
		h.fatal("the greeting is forgotten")
	}
	if sign, at := m.maySign(h.now); !sign && at.IsZero() && !m.breaker.Open() && !isAsked(probeSign) {
		h.fatal("no sign of life can be asked for any more")
	}
}
