package outbox

import (
	"slices"
	"time"
)

// channelSpec says what the rules about the whole channel promise, in its own words. It hears of the same
// events as the machine and complains where the machine does otherwise.
type channelSpec struct {
	complain func(format string, args ...any)

	outage outageSpec
	flood  floodSpec
	guard  guardSpec
	gate   time.Time
}

// outageSpec: three failures in a row begin an outage. Then waits of 1 s doubling to 60 s, after each of
// which the channel is asked who we are, then for something that delivers nothing, then for one message.
type outageSpec struct {
	row      []Failure
	on       bool
	rested   time.Time     // since when the next wait lasts
	wait     time.Duration // how long
	steps    int
	asking   probe
	climbed  probe  // the last question that was answered
	granted  bool   // and with yes
	canary   int64  // the one message that is under way
	shortcut bool   // another chat's message may go at once
	quick    bool   // it does
	only     string // whose the failures all were
}

// ladder is the wait after so many rests.
func ladder(steps int) time.Duration {
	return []time.Duration{1, 2, 4, 8, 16, 32, 60}[min(steps, 6)] * time.Second
}

func (o *outageSpec) begin(now time.Time, wait time.Duration) {
	o.on, o.rested, o.wait, o.steps, o.canary, o.granted, o.quick = true, now, wait, 0, 0, false, false
	o.asking, o.climbed, o.shortcut, o.only = probeNone, probeNone, false, o.row0()
}

// row0 is the chat of all failures in the row, if it is one.
func (o *outageSpec) row0() string {
	if len(o.row) < 3 || slices.ContainsFunc(o.row, func(f Failure) bool { return f.Address != o.row[0].Address }) {
		return ""
	}
	return o.row[0].Address
}

// again waits anew, without a longer wait.
func (o *outageSpec) again(now time.Time, wait time.Duration) {
	o.rested, o.wait, o.canary, o.granted, o.quick = now, wait, 0, false, false
	o.asking, o.climbed, o.shortcut = probeNone, probeNone, false
}

func (o *outageSpec) rest(now time.Time) {
	if !o.quick {
		o.steps++
	}
	o.again(now, ladder(o.steps))
	o.only = ""
}

func (s *channelSpec) asks(p probe, now time.Time) {
	o := &s.outage
	switch p {
	case probeIdentify:
		if !o.on || o.climbed != probeNone || o.canary != 0 || now.Before(o.rested.Add(o.wait)) {
			s.complain("who we are is asked %v after the last rest, want %v", now.Sub(o.rested), o.wait)
		}
		o.asking = p
	case probeTouch:
		if !o.on || o.climbed != probeIdentify || o.canary != 0 {
			s.complain("a touch although %v was answered last", o.climbed)
		}
		o.asking = p
	case probeNone, probeGreeting, probeSign:
	}
}

func (s *channelSpec) asked(p probe, a CallResult, now time.Time) {
	o := &s.outage
	switch {
	case p == probeGreeting && a.Verdict == BotStopped && !o.on:
		o.row = nil
		o.begin(now, time.Second)
	case p == probeGreeting && a.Verdict == BotStopped:
		o.only, o.shortcut = "", false
		if o.asking == probeIdentify {
			o.rest(now)
		}
	case !o.on || p != o.asking:
	case !a.Answered || p == probeIdentify && a.Verdict == BotStopped:
		o.rest(now)
	default:
		o.asking, o.climbed, o.granted = probeNone, p, p == probeTouch && a.OK
	}
}

// starts checks that a call may start.
func (s *channelSpec) starts(c flyingCall, m channelMachine, now time.Time) {
	if m.identity != nil || m.paused || s.gate.After(now) {
		s.complain("a call starts while the channel is held")
	}
	if o := &s.outage; o.on {
		switch {
		case o.canary != 0:
			s.complain("two canaries in an outage")
		case o.shortcut && c.address == o.only:
			s.complain("the shortcut leads to the chat that failed")
		case !o.shortcut && o.climbed != probeTouch:
			s.complain("a canary before the steps of the ladder")
		}
		o.canary, o.quick, o.shortcut = c.attempt, o.shortcut, false
	}
	s.flood.starts(s, c.attempt, now)
	s.guard.starts(s, now)
}

func (s *channelSpec) answered(e answeredEvent, r ruling, now time.Time) {
	if gate := s.flood.answered(e, now); gate != r.gate {
		s.complain("the channel's gate is %v, want %v", r.gate, gate)
	}
	if until := now.Add(r.gate); r.gate > 0 && until.After(s.gate) {
		s.gate = until
	}
	s.outage.answered(s, e, r, now)
	s.guard.answered(s, e, r, now)
}

func (o *outageSpec) answered(s *channelSpec, e answeredEvent, r ruling, now time.Time) {
	canary := o.on && o.canary == e.attempt
	counts, charged := false, int64(0)
	var uncount []Failure
	switch v := e.answer.Verdict; {
	case v == Accepted:
		if o.on && o.only != "" && o.only != e.address {
			charged = o.row[len(o.row)-1].Attempt
		}
		*o = outageSpec{}
	case v == BotStopped && !o.on:
		o.row = nil
		o.begin(now, time.Second)
	case v == BotStopped && canary:
		o.rest(now)
	case v == BotStopped:
		o.only, o.shortcut = "", false
	case v.failure() && o.on:
		if counts = canary && o.granted; canary {
			o.rest(now)
		} else if e.address != o.only {
			o.only, o.shortcut = "", false
		}
	case v.failure():
		o.row = append(o.row, Failure{e.attempt, e.message, e.address, true})
		if counts = len(o.row) < 3; !counts {
			uncount = o.row[:2]
			o.begin(now, time.Second)
			o.shortcut = o.only != ""
		}
	case canary:
		o.again(now, time.Second)
	}
	if counts != r.counts || !slices.Equal(uncount, r.uncount) {
		s.complain("%s counts: %v, and %v no longer do; want %v, %v", e.answer.Verdict, r.counts, r.uncount, counts, uncount)
	}
	if got := r.charge; (got == nil) != (charged == 0) || got != nil && got.Attempt != charged {
		s.complain("charged is %v, want attempt %d", got, charged)
	}
}

// floodSpec: after a 429 of a call that started after the last spell began, one call goes first, another
// after 3 s without an answer. Two of them refused one after the other gate the channel.
type floodSpec struct {
	stage  int // 0: none goes first; 1, 2: the first, the second does
	since  time.Time
	first  time.Duration
	flying map[int64]canaryFlight
}

type canaryFlight struct {
	stage int
	at    time.Time
}

func (f *floodSpec) spell(now time.Time) {
	*f = floodSpec{stage: 1, since: now, flying: map[int64]canaryFlight{}}
}

func (f *floodSpec) starts(s *channelSpec, attempt int64, now time.Time) {
	if f.stage == 0 {
		return
	}
	for _, c := range f.flying {
		if c.stage == f.stage && now.Sub(c.at) < 3*time.Second {
			s.complain("a canary %v after the one before, which has no answer", now.Sub(c.at))
		}
	}
	f.flying[attempt] = canaryFlight{f.stage, now}
}

func (f *floodSpec) answered(e answeredEvent, now time.Time) (gate time.Duration) {
	c, was := f.flying[e.attempt]
	delete(f.flying, e.attempt)
	wait := e.answer.Wait
	if wait <= 0 {
		wait = 5 * time.Second
	}
	switch v := e.answer.Verdict; {
	case v == Wait && f.stage == 0 && e.started.After(f.since):
		f.spell(now)
	case v == Wait && was && c.stage == f.stage && f.stage == 1:
		f.stage, f.first = 2, wait
	case v == Wait && was && c.stage == f.stage && f.stage == 2:
		gate = min(f.first, wait)
		f.spell(now)
	case v == Wait, !was, v == NotSent, v == NotFromChannel, v == Uncertain:
	default:
		f.stage, f.flying = 0, nil
	}
	return gate
}

// guardSpec: five chats in a row that had accepted are refused; then one call a minute, which kills nobody,
// until one is accepted or a person ends it.
type guardSpec struct {
	row  []string
	on   bool
	last time.Time // when it began, or the last call
}

func (g *guardSpec) starts(s *channelSpec, now time.Time) {
	if g.on && now.Sub(g.last) < time.Minute {
		s.complain("under the guard a call %v after the last", now.Sub(g.last))
	}
	if g.on {
		g.last = now
	}
}

func (g *guardSpec) answered(s *channelSpec, e answeredEvent, r ruling, now time.Time) {
	ended := false
	var back []string
	switch v := e.answer.Verdict; {
	case v == Accepted:
		ended = g.on
		*g = guardSpec{}
	case v != ChatDead && v != ChatDoubtful:
	case !g.on && e.accepted && !e.spared && !slices.Contains(g.row, e.address):
		if g.row = append(g.row, e.address); len(g.row) == 5 {
			back = g.row
			*g = guardSpec{on: true, last: now}
		}
	}
	if spare := g.on && (e.answer.Verdict == ChatDead || e.answer.Verdict == ChatDoubtful); spare != r.spare {
		s.complain("a refusal kills nobody: %v, want %v", r.spare, spare)
	}
	if ended != r.guardEnded || !slices.Equal(back, r.back) {
		s.complain("the guard ended: %v, took back %v; want %v, %v", r.guardEnded, r.back, ended, back)
	}
}
