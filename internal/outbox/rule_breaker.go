package outbox

import (
	"slices"
	"time"
)

// breakerLimit is how many failures in a row are taken for an outage.
const breakerLimit = 3

// Breaker tells an outage of the channel from the failures of single messages. Three failures in
// a row, with nothing accepted between, open it: messages stay, and the channel is probed after
// 1 s, doubling to 60 s – first who we are, then something of a recipient that delivers nothing,
// then one message as a canary. Only an acceptance closes it.
//
// An outage uses up nobody's attempts, so the failures that opened it or fell into it do not
// count, but for a canary that fails although the probe before it was granted: then it may well
// be the message. When all failures were one recipient's, another's message goes at once, and if
// that is accepted, the failing message is charged a single failure.
type Breaker struct {
	row     []Failure // since the last acceptance, at most breakerLimit of them
	open    bool
	stopped bool   // the channel refuses us altogether
	detail  string // the channel's last words
	step    int    // of the ladder
	at      time.Time
	phase   phase
	granted bool   // the last Touch was granted, not only answered
	canary  int64  // the attempt that flies as canary
	only    string // the one recipient of all failures, while that is so
	quick   bool   // the canary that flies took the shortcut
	last    string // whose message failed last
}

// Failure is one attempt that failed.
type Failure struct {
	Attempt, Message int64
	Address          string
	Counted          bool
}

// phase is how far the probing of an open breaker has come.
type phase int

const (
	resting     phase = iota // until Breaker.at
	identifying              // under way: who are we?
	toTouch                  // the channel knows us: next, something that delivers nothing
	touching                 // under way
	toCanary                 // next, one message
	flyingNow                // that message is under way
	shortcut                 // all failures were one recipient's: another's message goes at once
)

// Restore begins with the failures in a row that are on disk, oldest first, and what the channel
// said last.
func (b *Breaker) Restore(row []Failure, detail string, now time.Time) {
	b.row, b.detail = row, detail
	if len(row) >= breakerLimit {
		b.trip(now)
		b.phase, b.at = resting, now // this process has not waited for anything yet
	}
}

// clone returns a copy that shares nothing with b.
func (b Breaker) clone() Breaker {
	b.row = slices.Clone(b.row)
	return b
}

// Failed takes a failure. counts says whether it counts towards its message's attempts; uncount
// are earlier ones that no longer do.
func (b *Breaker) Failed(f Failure, detail string, now time.Time) (counts bool, uncount []Failure) {
	b.detail, b.last = detail, f.Address
	if b.open {
		canary := f.Attempt == b.canary && b.phase == flyingNow
		counts = canary && b.granted
		if canary {
			b.rest(now)
		} else if f.Address != b.only {
			b.notOnly()
		}
		return counts, nil
	}
	b.row = append(b.row, f)
	if len(b.row) < breakerLimit {
		return true, nil
	}
	b.trip(now)
	return false, slices.Clone(b.row[:breakerLimit-1])
}

func (b *Breaker) trip(now time.Time) {
	b.open, b.step = true, 0
	b.phase, b.at = resting, now.Add(probeWait(0))
	b.only = b.row[0].Address
	for _, f := range b.row {
		if f.Address != b.only {
			b.only = ""
		}
	}
	if b.only != "" {
		b.phase = shortcut
	}
	b.last = b.row[len(b.row)-1].Address
}

// rest goes one step up the ladder, which the canary of the shortcut had not climbed.
func (b *Breaker) rest(now time.Time) {
	if !b.quick {
		b.step++
	}
	b.only, b.quick = "", false
	b.phase, b.at, b.canary, b.granted = resting, now.Add(probeWait(b.step)), 0, false
}

// Refused takes an answer by which the channel refuses us altogether: to an attempt, or to Identify (0),
// which need not be the one that the breaker has asked for. Only an answer that it waits for moves it.
func (b *Breaker) Refused(attempt int64, detail string, now time.Time) {
	b.detail, b.stopped, b.only = detail, true, ""
	switch {
	case !b.open:
		b.open, b.step, b.phase, b.at = true, 0, resting, now.Add(probeWait(0))
	case attempt == 0 && b.phase == identifying, attempt != 0 && attempt == b.canary:
		b.rest(now)
	default: // nobody's message can go
		b.notOnly()
	}
}

// notOnly notes that not all failures are one recipient's, so that another's message has no reason to go at once.
func (b *Breaker) notOnly() {
	b.only = ""
	if b.phase == shortcut {
		b.phase = resting
	}
}

// Accepted closes the breaker. charge is the failure that now counts for the whole spell, if any.
func (b *Breaker) Accepted(address string) (charge *Failure) {
	if b.open && b.only != "" && b.only != address {
		last := b.row[len(b.row)-1]
		charge = &last
	}
	*b = Breaker{}
	return charge
}

// Answered takes any other answer to an attempt: the channel works, and this message could not
// show it. The next one may soon.
func (b *Breaker) Answered(attempt int64, now time.Time) {
	if b.open && attempt == b.canary && b.phase == flyingNow {
		b.phase, b.at, b.canary, b.granted, b.quick = resting, now.Add(probeWait(0)), 0, false, false
	}
}

// Step is what an open breaker wants done next.
type Step int

// The steps of probing.
const (
	StepNone     Step = iota // nothing before the instant that Next returns, or an answer
	StepIdentify             // call Sender.Identify, then tell Identified
	StepTouch                // call Sender.Touch for the next due message, then tell Touched
	StepCanary               // send one message, and tell CanaryStarted
)

// Next is what to do now, and, with StepNone, when to ask again (zero: after an answer).
func (b *Breaker) Next(now time.Time) (Step, time.Time) {
	switch b.phase {
	case resting:
		if b.at.After(now) {
			return StepNone, b.at
		}
		return StepIdentify, time.Time{}
	case toTouch:
		return StepTouch, time.Time{}
	case toCanary, shortcut:
		return StepCanary, time.Time{}
	case identifying, touching, flyingNow:
	}
	return StepNone, time.Time{}
}

// Avoid is the address whose message should not be the canary where there is another, and
// whether it must not be: without another one, the shortcut is given up.
func (b *Breaker) Avoid() (address string, strictly bool) { return b.last, b.phase == shortcut }

// NoOther gives the shortcut up: there is no other recipient to try.
func (b *Breaker) NoOther() {
	if b.phase == shortcut {
		b.phase = resting
	}
}

// OnlyDoubted says that whatever could be the canary may be with the channel already, and waits for a
// sign of life. The ladder begins anew, so that a Touch brings one; not before the method may be called.
func (b *Breaker) OnlyDoubted(touch, now time.Time) {
	if b.phase == toCanary {
		b.phase, b.at = resting, latest(touch, now.Add(probeWait(b.step)))
	}
}

// Identifying notes that Sender.Identify is under way.
func (b *Breaker) Identifying() { b.phase = identifying }

// Touching notes that Sender.Touch is under way.
func (b *Breaker) Touching() { b.phase = touching }

// CanaryStarted notes which attempt is the canary.
func (b *Breaker) CanaryStarted(attempt int64) {
	b.quick = b.phase == shortcut
	b.phase, b.canary = flyingNow, attempt
}

// Identified takes the answer to Sender.Identify.
func (b *Breaker) Identified(a CallResult, now time.Time) {
	if !b.open || b.phase != identifying {
		return
	}
	switch {
	case a.Verdict == BotStopped:
		b.Refused(0, a.Detail, now)
	case a.Answered:
		b.phase = toTouch
	default:
		b.detail = a.Detail
		b.rest(now)
	}
}

// Touched takes the answer to Sender.Touch.
func (b *Breaker) Touched(a CallResult, now time.Time) {
	if !b.open || b.phase != touching {
		return
	}
	if !a.Answered {
		b.detail = a.Detail
		b.rest(now)
		return
	}
	b.phase, b.granted = toCanary, a.OK
}

// Open says whether the breaker is open.
func (b *Breaker) Open() bool { return b.open }

// Stopped says whether it is open because the channel refuses us.
func (b *Breaker) Stopped() bool { return b.open && b.stopped }

// Detail is what the channel said last.
func (b *Breaker) Detail() string { return b.detail }
