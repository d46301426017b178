package outbox

import (
	"errors"
	"strings"
	"time"
)

// Errors with which a pass ends. They say that something holds up the whole channel.
var (
	ErrPaused   = errors.New("sending is paused")
	ErrOutage   = errors.New("the channel cannot be reached")
	ErrStopped  = errors.New("the channel refuses us")
	ErrGated    = errors.New("the channel told us to wait")
	ErrGuarded  = errors.New("too many chats in a row were refused: one message a minute tries")
	ErrIdentity = errors.New("the database belongs to another bot")
	ErrReplaced = errors.New("another process sends for this database now")
)

// Held says whether the error of a pass only means that something holds up the whole channel.
func Held(err error) bool {
	for _, known := range []error{ErrPaused, ErrOutage, ErrStopped, ErrGated, ErrGuarded, ErrIdentity} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// channelMachine is everything that holds up the whole channel, in one value: a person's pause, the
// identity, the channel's gate, the breaker, the canary, the guard, signs of life, and the waits of
// single methods. It does no I/O. step returns the machine after an event together with what
// follows for the database, so a transaction that fails leaves the old machine as it was.
//
//	what happens                          what follows
//	stored: a person pauses, releases …   the machine takes it over
//	started: a call begins                it may be the canary that decides
//	answered: its verdict                 ruling: what counts, whom the guard takes back, a gate
//	asking, asked: getMe, sendChatAction  the breaker's ladder; a sign of life
type channelMachine struct {
	identity error // wraps ErrIdentity when the database belongs to another bot
	paused   bool
	gate     time.Time // of the whole channel
	breaker  Breaker
	canary   Canary
	guard    Guard
	signs    signs
	waits    methodWaits
	greeting greeting
	silence  string // what the last call without an answer came to; empty after an answer
}

// signs knows since when the channel has shown that it works: by accepting a message, or by
// answering a Touch. A message that the channel may have taken gets its one further try only
// after such a sign, which is asked for if nothing else brings one.
type signs struct {
	last   time.Time // the last sign this process has seen
	asking bool
	step   int
	at     time.Time // not to be asked for before
}

// methodWaits are the times before which a method that was told "too fast" is not called again.
// They hold nothing else up.
type methodWaits struct{ identify, touch time.Time }

// greeting is the first Identify after a start, and after the wall clock was set: it tells the channel's clock, and whether the token
// is good, before there is anything to send.
type greeting struct {
	done, asking bool
	step         int
	at           time.Time
}

// probe is a call that delivers nothing.
type probe int

// The probes, and why they are made.
const (
	probeNone     probe = iota
	probeGreeting       // Identify at the start
	probeIdentify       // Identify for the breaker
	probeTouch          // Touch for the breaker
	probeSign           // Touch for a sign of life
)

// channelEvent is something that happens to the channel.
type channelEvent interface {
	apply(*channelMachine, time.Time) ruling
}

// ruling is what an event means for the database, and what is worth a line in the log.
type ruling struct {
	counts     bool      // a failure counts towards its message's attempts
	uncount    []Failure // earlier ones that no longer do
	charge     *Failure  // an earlier one that does after all
	gate       time.Duration
	spare      bool     // the guard holds: a refusal kills nobody
	back       []string // the chats that the guard takes back
	guardEnded bool
	outage     int // 1: one begins; -1: it is over
}

// step returns the machine as it is after an event, and what follows.
func (m channelMachine) step(e channelEvent, now time.Time) (channelMachine, ruling) {
	m.breaker, m.canary, m.guard = m.breaker.clone(), m.canary.clone(), m.guard.clone()
	wasOpen := m.breaker.Open()
	r := e.apply(&m, now)
	switch open := m.breaker.Open(); {
	case open && !wasOpen:
		r.outage = 1
	case wasOpen && !open:
		r.outage = -1
	}
	return m, r
}

// othersBot says whether the database belongs to another identity.
func (m channelMachine) othersBot() bool { return m.identity != nil }

// permit says what may start now.
type permit struct {
	calls   int       // how many calls of messages: 0, 1 or any number
	held    error     // what holds up the whole channel, if anything
	until   time.Time // when to ask again by itself; zero: after an event
	private bool      // to a private chat where there is one
	avoid   string    // not to this address where there is another
	never   bool      // not to avoid at all
	probe   probe     // what to ask instead; a Touch goes to whoever's message is next
}

// anyNumber is how many calls may start when nothing holds them up.
const anyNumber = 1 << 30

// may says what may start. due says whether a message is due at all: without one nothing is probed.
func (m channelMachine) may(now time.Time, due bool) permit {
	switch {
	case m.identity != nil:
		return permit{held: m.identity}
	case m.paused:
		return permit{held: ErrPaused}
	case m.gate.After(now):
		return permit{held: ErrGated, until: m.gate}
	case m.breaker.Open():
		return m.mayProbe(now, due)
	}
	p := permit{calls: anyNumber}
	if m.guard.Active() {
		p.held, p.calls = ErrGuarded, 1
	}
	if !m.canary.Free() {
		p.calls, p.private = 1, m.canary.Private()
	}
	if at := m.nextCanary(now); at.After(now) {
		return permit{held: p.held, until: at}
	}
	return p
}

// nextCanary is the earliest instant at which a call may start by the canary and the guard.
func (m channelMachine) nextCanary(now time.Time) time.Time {
	at := now
	if m.guard.Active() {
		at = latest(at, m.guard.Next())
	}
	if !m.canary.Free() {
		at = latest(at, m.canary.Next(now))
	}
	return at
}

// mayProbe is may while the breaker is open.
func (m channelMachine) mayProbe(now time.Time, due bool) permit {
	p := permit{held: ErrOutage}
	if m.breaker.Stopped() {
		p.held = ErrStopped
	}
	if !due {
		return p
	}
	step, at := m.breaker.Next(now)
	switch step {
	case StepIdentify:
		p.probe = probeIdentify
	case StepTouch:
		p.probe = probeTouch
	case StepCanary:
		if at := m.nextCanary(now); at.After(now) {
			p.until = at
			return p
		}
		p.calls, p.private = 1, !m.canary.Free() && m.canary.Private()
		p.avoid, p.never = m.breaker.Avoid()
	case StepNone:
		p.until = at
	}
	if p.probe == probeTouch || p.probe == probeIdentify {
		p.avoid, _ = m.breaker.Avoid()
	}
	return p
}

// mayGreet says whether the first Identify should be made now, and if not, when.
func (m channelMachine) mayGreet(now time.Time) (bool, time.Time) {
	g := m.greeting
	if g.done || g.asking || m.identity != nil {
		return false, time.Time{}
	}
	return !g.at.After(now), g.at
}

// maySign says whether a sign of life should be asked for now, when one is wanted, and if not, when.
func (m channelMachine) maySign(now time.Time) (bool, time.Time) {
	if m.signs.asking || m.breaker.Open() {
		return false, time.Time{}
	}
	at := latest(m.signs.at, m.waits.touch)
	return !at.After(now), at
}

// signSince says whether the channel has shown life since an instant.
func (m channelMachine) signSince(t time.Time) bool { return m.signs.last.After(t) }

// waiting says whether the method of a probe was told to wait.
func (m channelMachine) waiting(p probe, now time.Time) bool {
	if p == probeTouch || p == probeSign {
		return m.waits.touch.After(now)
	}
	return m.waits.identify.After(now)
}

// status says in words what holds up the whole channel; a person's pause and the gate are told
// from what is stored.
func (m channelMachine) status(now time.Time, channel string, last SenderStatus) SenderStatus {
	title := strings.ToUpper(channel[:1]) + channel[1:]
	probeAt := func() time.Time {
		_, at := m.breaker.Next(now)
		if at.IsZero() {
			return last.Until // a probe is under way: its end will tell
		}
		return at.Truncate(time.Millisecond)
	}
	switch {
	case m.identity != nil:
		return SenderStatus{State: SenderStopped, Reason: m.identity.Error()}
	case m.breaker.Stopped():
		return SenderStatus{State: SenderStopped, Reason: "token rejected: " + m.breaker.Detail(), Until: probeAt()}
	case m.breaker.Open():
		return SenderStatus{State: SenderWaiting, Reason: title + " cannot be reached: " + m.breaker.Detail(), Until: probeAt()}
	case m.silence != "":
		return SenderStatus{State: SenderWaiting, Reason: title + " does not answer: " + m.silence}
	case m.guard.Active():
		return SenderStatus{State: SenderWaiting, Until: m.guard.Next().Truncate(time.Millisecond),
			Reason: "five chats in a row were refused that had accepted messages before; nobody is given up, and one message a minute tries. If all is well, release the sender"}
	}
	return SenderStatus{State: SenderRunning}
}
