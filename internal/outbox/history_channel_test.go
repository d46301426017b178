package outbox

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"
)

// mode is how the channel is at present.
type mode string

const (
	healthy  mode = "healthy"
	outage   mode = "outage"   // nothing works
	half     mode = "half"     // only messages fail
	stopped  mode = "stopped"  // the token is refused
	refusing mode = "refusing" // every chat is refused
	flooding mode = "flooding" // everything is told to wait
)

// unruly is the channel of a history. It decides what comes of a call by the seed, the message and
// the number of the call, and checks of each call whether it may be made.
type unruly struct {
	h  *history
	mu sync.Mutex

	mode    mode
	bad     Verdict // of an outage
	spell   int     // which outage it is
	spared  bool    // single messages and chats behave
	left    map[string]bool
	lost    map[string]bool
	moved   map[string]string
	fates   map[int64]*messageFate
	flying  map[*process]map[string]int64
	ends    map[*process]map[string]time.Time // when the last call to an address ended
	gates   map[string]time.Time
	sign    time.Time // when the channel has last shown life
	current *process

	rounds atomic.Int64 // of all processes
	called int64        // how many calls there were
	probed int64        // and probes
}

// messageFate is what the channel knows of one message.
type messageFate struct {
	calls   int
	maybe   int // how often the channel may have taken it, since a person last retried it
	maybeAt time.Time
	offset  time.Duration // of the wall clock, as its process had found it
	excused int           // failures that may count
	spell   int           // the last outage it met
	sent    bool
	hold    bool
}

func newUnruly(h *history) *unruly {
	u := &unruly{
		h: h, mode: healthy, fates: map[int64]*messageFate{}, gates: map[string]time.Time{},
		flying: map[*process]map[string]int64{}, ends: map[*process]map[string]time.Time{},
	}
	u.healAll()
	u.spared = false
	return u
}

func (u *unruly) set(m mode, bad Verdict) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mode, u.bad = m, bad
	u.spell++
}

// healAll lets all chats and messages behave.
func (u *unruly) healAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left, u.lost, u.moved, u.spared = map[string]bool{}, map[string]bool{}, map[string]string{}, true
}

// spoil ends that.
func (u *unruly) spoil() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spared = false
}

func (u *unruly) with(fn func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	fn()
}

func (u *unruly) fate(id int64) *messageFate {
	f := u.fates[id]
	if f == nil {
		f = &messageFate{}
		u.fates[id] = f
	}
	return f
}

// line is the channel as one process has it.
type line struct {
	u *unruly
	p *process
}

// scripted is a message ready for a call.
type scripted struct {
	id    int64
	text  string
	plain bool
}

// Compose implements Sender.
func (l *line) Compose(d Draft) (Composed, error) {
	var p struct{ Text string }
	if err := json.Unmarshal(d.Payload, &p); err != nil {
		return nil, &Refusal{ReasonTemplateError, err.Error()}
	}
	if p.Text == "" {
		return nil, &Refusal{ReasonRejected, "the text is empty"}
	}
	return scripted{d.MessageID, p.Text, d.Plain}, nil
}

// Send implements Sender.
func (l *line) Send(ctx context.Context, address string, x Composed) CallResult {
	u, s := l.u, x.(scripted)
	if !l.p.alive() {
		return CallResult{Verdict: NotSent}
	}
	l.checkCall(address, s)
	u.mu.Lock()
	f := u.fate(s.id)
	f.calls++
	u.called++
	chance := u.chance(s.id, f.calls)
	u.mu.Unlock()
	a := CallResult{Verdict: Uncertain, Detail: "no answer in time"}
	switch l.pass(ctx, chance) {
	case "answered":
		u.mu.Lock()
		a = u.decide(address, s, f, chance)
		u.mu.Unlock()
	case "killed":
		a.Detail = "killed"
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	l.over(address, f, a)
	return a
}

// pass lets the time of a call pass, and says how it ended.
func (l *line) pass(ctx context.Context, chance uint64) string {
	latency := time.Duration(10+chance%150) * time.Millisecond
	l.u.with(func() {
		if chance%61 == 0 && !l.u.spared {
			latency = time.Hour
		}
	})
	select {
	case <-time.After(latency):
		return "answered"
	case <-ctx.Done():
		return "timeout"
	case <-l.p.killed:
		return "killed"
	}
}

// over notes how a call ended.
func (l *line) over(address string, f *messageFate, a CallResult) {
	u, now := l.u, time.Now()
	delete(u.flying[l.p], address)
	u.ends[l.p][address] = now
	switch a.Verdict {
	case Accepted:
		u.sign = now
		f.maybe++
		f.maybeAt, f.offset = now, l.p.offset
	case Uncertain:
		f.maybe++
		f.maybeAt, f.offset = now, l.p.offset
	case Wait:
		wait := a.Wait
		if wait == 0 {
			wait = 5 * time.Second
		}
		if until := now.Add(wait); until.After(u.gates[address]) {
			u.gates[address] = until
		}
	}
	if a.Verdict.failure() {
		if u.mode != outage {
			f.excused++
		} else if f.spell != u.spell {
			f.spell = u.spell
			f.excused += 2 // three in a row are an outage; fewer count
		}
	}
}

// chance is a number that the seed fixes for a call.
func (u *unruly) chance(id int64, nth int) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte{byte(u.h.seed), byte(id), byte(id >> 8), byte(id >> 16), byte(nth), byte(nth >> 8)})
	return sum.Sum64()
}

// decide says what comes of a call.
func (u *unruly) decide(address string, s scripted, f *messageFate, chance uint64) CallResult {
	switch u.mode {
	case outage, half:
		return CallResult{Verdict: u.bad, Detail: string(u.mode), Answered: u.mode == half}
	case stopped:
		return CallResult{Verdict: BotStopped, Detail: "Unauthorized", Answered: true, Date: time.Now()}
	case flooding:
		return CallResult{Verdict: Wait, Wait: time.Duration(chance%20) * time.Second, Answered: true, Date: time.Now()}
	case refusing:
		return CallResult{Verdict: ChatDead, Reason: RecipientKicked, Detail: "kicked", Answered: true, Date: time.Now()}
	case healthy:
	}
	if u.spared {
		return accept()
	}
	return u.decideOne(address, s, f, chance)
}

func accept() CallResult {
	return CallResult{Verdict: Accepted, OK: true, Answered: true, Date: time.Now(), RemoteID: 1}
}

// decideOne says what comes of a call while the channel itself is well.
func (u *unruly) decideOne(address string, s scripted, f *messageFate, chance uint64) CallResult {
	a := CallResult{Answered: true, Date: time.Now(), Detail: s.text}
	switch {
	case u.left[address]:
		a.Verdict, a.Reason = ChatDead, RecipientKicked
	case u.lost[address]:
		a.Verdict, a.Reason = ChatDoubtful, ReasonChatNotFound
	case u.moved[address] != "":
		a.Verdict, a.MovedTo = Moved, u.moved[address]
		if a.MovedTo == "back" {
			f.excused++
			a.MovedTo = address
		}
	case s.text == "poison":
		a.Verdict = Failed
	case s.text == "reject":
		a.Verdict = Rejected
	case s.text == "markup" && !s.plain:
		a.Verdict = Repair
	case chance%41 == 0:
		a.Verdict, a.Answered, a.Date = Uncertain, false, time.Time{}
	case chance%43 == 0:
		a.Verdict = Failed
	case chance%47 == 0:
		a.Verdict, a.Wait = Wait, time.Duration(chance/47%2400)*time.Second
	case chance%53 == 0:
		a.Verdict = Wait
	default:
		return accept()
	}
	return a
}

// Identify implements Sender.
func (l *line) Identify(ctx context.Context) CallResult { return l.probe(ctx) }

// Touch implements Sender.
func (l *line) Touch(ctx context.Context, _ string) CallResult { return l.probe(ctx) }

func (l *line) probe(ctx context.Context) CallResult {
	wait(ctx, 30*time.Millisecond)
	u := l.u
	u.mu.Lock()
	defer u.mu.Unlock()
	u.probed++
	switch u.mode {
	case outage:
		return CallResult{Verdict: u.bad, Detail: "outage"}
	case stopped:
		return CallResult{Verdict: BotStopped, Detail: "Unauthorized"}
	case flooding:
		u.sign = time.Now()
		return CallResult{Verdict: Wait, Wait: 5 * time.Second, Answered: true, Date: time.Now()}
	case healthy, half, refusing:
	}
	u.sign = time.Now()
	return CallResult{Verdict: Accepted, OK: true, Answered: true, Date: time.Now()}
}
