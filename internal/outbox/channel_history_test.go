package outbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"
)

// TestRandomHistoriesOfTheChannel drives the channel machine as the dispatcher does, through whatever can
// happen, kills included, and holds it to what channelSpec says. NOTIFIER_LONG makes it long.
func TestRandomHistoriesOfTheChannel(t *testing.T) {
	steps := 50_000
	if os.Getenv("NOTIFIER_LONG") != "" {
		steps = 1_000_000
	}
	seen := map[string]int{}
	for seed := range uint64(steps / 1000) {
		newChannelHistory(t, seed, seen).run(1000)
	}
	for _, what := range []string{"outage", "shortcut", "canary counts", "charged", "gate", "second canary", "guard", "guard ended",
		"released", "kill", "kill in an outage", "kill under the guard", "kill under the gate", "reload", "token rejected", "wait 60s"} {
		if seen[what] == 0 {
			t.Errorf("no history came to: %s", what)
		}
	}
	t.Log(seen)
}

// history is one life of a sender, kills included.
type channelHistory struct {
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	now     time.Time
	machine channelMachine
	spec    *channelSpec
	disk    *channelDisk
	calls   []flyingCall // under way
	asked   []probe      // under way
	last    int64        // attempt
	mood    int
	// poisoned is a chat whose calls fail, whatever the mood.
	poisoned string
	seen     map[string]int
	trace    []string
}

type flyingCall struct {
	attempt int64
	address string
	started time.Time
}

// The chats of a history; the negative ones are groups.
var chats = []string{"1", "2", "3", "4", "5", "6", "7", "-8", "-9"}

func newChannelHistory(t *testing.T, seed uint64, seen map[string]int) *channelHistory {
	h := &channelHistory{
		t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), now: time.UnixMilli(1_800_000_000_000).UTC(), //nolint:gosec // a test
		disk: &channelDisk{accepted: map[string]bool{}, spared: map[string]bool{}}, seen: seen,
	}
	h.disk.sender.identity = "1"
	for _, c := range chats {
		h.disk.accepted[c] = h.random.IntN(4) > 0
	}
	h.spec = &channelSpec{complain: h.fatal}
	h.restart()
	return h
}

func (h *channelHistory) fatal(format string, args ...any) {
	h.t.Helper()
	for _, line := range h.trace[max(0, len(h.trace)-60):] {
		h.t.Log(line)
	}
	h.t.Logf("%+v", h.machine)
	h.t.Fatalf("seed %d at %v: "+format, append([]any{h.seed, h.at()}, args...)...)
}

func (h *channelHistory) at() time.Duration { return h.now.Sub(time.UnixMilli(1_800_000_000_000)) }

func paused(s senderRow) string {
	return fmt.Sprintf(" paused %v, gated %v, guarded %v", !s.pausedAt.IsZero(), !s.gateUntil.IsZero(), !s.guard.IsZero())
}

func (h *channelHistory) note(what string, x any) {
	if s, ok := x.(storedEvent); ok {
		x = s.sender.identity + paused(s.sender)
	}
	h.trace = append(h.trace, fmt.Sprintf("%v %s %+v", h.at(), what, x))
}

func (h *channelHistory) run(steps int) {
	for range steps {
		switch n := h.random.IntN(1000); {
		case n < 380:
			h.round()
		case n < 680:
			h.answer()
		case n < 780:
			h.answerProbe()
		case n < 960:
			h.pass()
		case n < 970:
			h.person()
		case n < 974:
			h.kill()
		default:
			h.mood, h.poisoned = h.random.IntN(len(moods)), append(chats, "", "", "", "1", "1", "1")[h.random.IntN(len(chats)+6)]
		}
		h.check()
	}
}

// apply makes one step, and sees that the machine it was made on did not change: a transaction that fails
// goes back to it.
func (h *channelHistory) apply(e channelEvent) ruling {
	h.t.Helper()
	h.note(fmt.Sprintf("%T", e), e)
	before := deepCopy(h.machine)
	next, r := h.machine.step(e, h.now)
	if !reflect.DeepEqual(before, h.machine) {
		h.fatal("the step changed the machine it was made on:\n%+v\n%+v", before, h.machine)
	}
	if h.random.IntN(8) == 0 { // the commit failed
		kept := deepCopy(next)
		again, r2 := h.machine.step(e, h.now)
		if !reflect.DeepEqual(next, kept) || !reflect.DeepEqual(again, next) || !reflect.DeepEqual(r, r2) {
			h.fatal("the same step again differs:\n%+v %+v\n%+v %+v", next, r, again, r2)
		}
	}
	h.machine = next
	return r
}

func deepCopy(m channelMachine) channelMachine {
	m.breaker.row = slices.Clone(m.breaker.row)
	m.guard.row = slices.Clone(m.guard.row)
	m.canary.flying = maps.Clone(m.canary.flying)
	return m
}

// round is what a round of the dispatcher asks of the machine.
func (h *channelHistory) round() {
	held := h.machine.identity != nil
	h.takeStored()
	if h.machine.identity != nil {
		return
	}
	if held { // accepted meanwhile: the dispatcher begins anew, and the calls go on
		h.seen["reload"]++
		h.disk.interrupt(h.calls)
		h.restart()
		return
	}
	due := h.due()
	p := h.machine.may(h.now, len(due) > 0)
	switch {
	case len(due) == 0:
		if p.probe != probeNone {
			h.fatal("something is asked although nothing is due")
		}
	case p.probe != probeNone:
		h.startProbe(p.probe)
	default:
		h.grant(p, due)
	}
	if greet, _ := h.machine.mayGreet(h.now); greet && p.probe == probeNone {
		h.ask(probeGreeting)
	}
	if sign, _ := h.machine.maySign(h.now); sign && h.random.IntN(4) == 0 {
		h.ask(probeSign)
	}
}

func (h *channelHistory) takeStored() {
	h.apply(storedEvent{h.disk.sender, "1"})
	if h.disk.sender.gateUntil.IsZero() {
		h.spec.gate = time.Time{}
	}
	if h.disk.sender.guard.IsZero() {
		if h.spec.guard.on {
			h.seen["released"]++
			h.spec.guard = guardSpec{}
		}
	}
}

// due are the chats whose turn has come: some of those without a call.
func (h *channelHistory) due() []string {
	var due []string
	for _, address := range chats {
		busy := slices.ContainsFunc(h.calls, func(c flyingCall) bool { return c.address == address })
		if !busy && h.random.IntN(3) > 0 {
			due = append(due, address)
		}
	}
	if h.random.IntN(4) == 0 {
		due = due[:min(1, len(due))]
	}
	return due
}

// startProbe is round.startProbe.
func (h *channelHistory) startProbe(p probe) {
	h.spec.asks(p, h.now)
	h.apply(askingEvent{p})
	if h.machine.waiting(p, h.now) {
		skipped := CallResult{Answered: true}
		h.apply(askedEvent{probe: p, answer: skipped, skipped: true})
		h.spec.asked(p, skipped, h.now)
		return
	}
	h.asked = append(h.asked, p)
}

func (h *channelHistory) ask(p probe) {
	h.apply(askingEvent{p})
	h.asked = append(h.asked, p)
}

// grant is round.grantTo.
func (h *channelHistory) grant(p permit, due []string) {
	n := min(p.calls, 1+h.random.IntN(4))
	granted := 0
	var order []string
	if p.private {
		order = slices.DeleteFunc(slices.Clone(due), func(a string) bool { return a[0] == '-' || a == p.avoid })
	}
	order = append(order, slices.DeleteFunc(slices.Clone(due), func(a string) bool { return a == p.avoid })...)
	if p.avoid != "" && !p.never {
		order = append(order, due...)
	}
	for _, address := range order {
		if granted == n {
			break
		}
		if slices.ContainsFunc(h.calls, func(c flyingCall) bool { return c.address == address }) {
			continue
		}
		granted++
		h.last++
		c := flyingCall{h.last, address, h.now}
		if h.spec.outage.shortcut {
			h.seen["shortcut"]++
		}
		h.spec.starts(c, h.machine, h.now)
		h.apply(startedEvent{c.attempt})
		h.calls = append(h.calls, c)
		h.disk.open(c)
	}
	if p.calls == 1 && granted == 0 && p.never {
		h.apply(noOtherEvent{})
		h.spec.outage.shortcut = false
	}
}

// pass lets time pass, often to where something is decided.
func (h *channelHistory) pass() {
	until := h.machine.may(h.now, true).until
	switch h.random.IntN(6) {
	case 0:
		h.now = h.now.Add(time.Duration(h.random.IntN(120_000)) * time.Millisecond)
	case 1:
		h.now = latest(h.now, until.Add(-time.Millisecond))
	case 2, 3:
		h.now = latest(h.now, until)
	case 4:
		h.now = h.now.Add(time.Duration(h.random.IntN(5_000)) * time.Millisecond)
	case 5:
		h.now = h.now.Add(time.Millisecond)
	}
}
