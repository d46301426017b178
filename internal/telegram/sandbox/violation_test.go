package sandbox

import (
	"slices"
	"testing"
	"time"
)

// answeredCaller makes a call on a connection that all share, answered at once.
func answeredCaller(i int, at time.Time) caller {
	return caller{call: uint64(i), connection: "one", received: at, told: &told{at}}
}

func scopesOf(list []violation) []string {
	var names []string
	for _, v := range list {
		names = append(names, v.scope)
	}
	return names
}

func TestViolations(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	limits := Limits{BotPerSecond: 1, ChatPerSecond: 0.1}
	l := newLimiter(false)
	decide := func(chatID int64, c caller, after time.Duration) grant {
		c.received = start.Add(after)
		return l.decide(limits, chatID, c, c.received)
	}
	answer := &told{}
	decide(7, caller{call: 1, connection: "a", told: &told{start}}, 0)
	if g := decide(7, caller{call: 2, connection: "a", told: answer}, 0); g.retryAfter != 10 || g.violated != nil {
		t.Fatalf("%+v", g)
	}
	if g := decide(7, caller{call: 3, connection: "b", told: &told{}}, time.Millisecond); g.violated != nil {
		t.Errorf("before the answer went out: %+v", g)
	}
	answer.at = start.Add(2 * time.Millisecond)
	for _, c := range []struct {
		chatID     int64
		connection string
		after      time.Duration
		want       []string
	}{
		{7, "b", 3 * time.Millisecond, nil},   // it may have crossed the answer
		{7, "b", 101 * time.Millisecond, nil}, // just so
		{7, "a", 3 * time.Millisecond, []string{"chat", "bot"}},
		{7, "b", 102 * time.Millisecond, []string{"chat", "bot"}},
		{8, "a", 500 * time.Millisecond, nil}, // this chat was told nothing of the bot's wait
		{7, "a", 9999 * time.Millisecond, []string{"chat"}},
		{8, "a", 10 * time.Second, nil},
	} {
		g := decide(c.chatID, caller{call: 9, connection: c.connection, told: &told{}}, c.after)
		if got := scopesOf(g.violated); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The reason names the call that was answered with the wait.
func TestViolationSaysWhy(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	l, limits := newLimiter(false), Limits{ChatPerSecond: 0.5}
	l.decide(limits, 7, answeredCaller(1, start), start)
	l.decide(limits, 7, answeredCaller(2, start), start)
	at := start.Add(400 * time.Millisecond)
	g := l.decide(limits, 7, answeredCaller(3, at), at)
	const want = "call 2 was told to wait 2s for the chat; this one came 1.6s too early, after that answer on the same connection"
	if len(g.violated) != 1 || g.violated[0].String() != want {
		t.Errorf("%v", g.violated)
	}
}

func TestStrictPenaltyLengthensTheWait(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	limits := Limits{ChatPerSecond: 0.1}
	l := newLimiter(true)
	decide := func(i int, after time.Duration) grant {
		at := start.Add(after)
		return l.decide(limits, 7, answeredCaller(i, at), at)
	}
	decide(1, 0)
	decide(2, 0)
	if g := decide(3, 5*time.Second); g.retryAfter != 10 {
		t.Errorf("5 s were left, so 10 s are to wait: %+v", g)
	}
	if g := decide(4, 15*time.Second); g.retryAfter != 0 || g.violated != nil {
		t.Errorf("after the longer wait: %+v", g)
	}
}

// A pacer whose clock is a little fast is let through, however long it goes on
// at the right pace; one that is too fast in the end is not.
func TestTolerance(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	limits := DefaultLimits()
	for _, c := range []struct {
		spacing time.Duration
		jitter  time.Duration
		refused bool
	}{
		{time.Second, 25 * time.Millisecond, false},
		{995 * time.Millisecond, 0, true}, // 5 ms too early each time
		{900 * time.Millisecond, 0, true},
	} {
		l, refused := newLimiter(false), 0
		for i := range 60 {
			at := start.Add(time.Duration(i) * c.spacing)
			if i%2 == 1 {
				at = at.Add(-c.jitter)
			}
			if l.decide(limits, 7, answeredCaller(i, at), at).retryAfter > 0 {
				refused++
			}
		}
		if (refused > 0) != c.refused {
			t.Errorf("%+v: %d refused", c, refused)
		}
	}
	l := newLimiter(false)
	l.decide(limits, 7, answeredCaller(1, start), start)
	at := start.Add(time.Second - 51*time.Millisecond)
	if g := l.decide(limits, 7, answeredCaller(2, at), at); g.retryAfter != 1 {
		t.Errorf("51ms early: %+v", g)
	}
	at = start.Add(time.Second - 50*time.Millisecond)
	if g := l.decide(limits, 7, answeredCaller(3, at), at); g.retryAfter != 0 || !g.at.Equal(at) {
		t.Errorf("50ms early: %+v", g)
	}
}
