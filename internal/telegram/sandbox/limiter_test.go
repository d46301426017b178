package sandbox

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// someLimits draws limits that are small enough to be met.
func someLimits(t *rapid.T) Limits {
	return Limits{
		BotPerSecond:   rapid.IntRange(0, 4).Draw(t, "botPerSecond"),
		ChatPerSecond:  rapid.SampledFrom([]float64{0, 0.3, 1, 2, 7}).Draw(t, "chatPerSecond"),
		ChatBurst:      rapid.IntRange(0, 3).Draw(t, "chatBurst"),
		GroupPerMinute: rapid.IntRange(0, 5).Draw(t, "groupPerMinute"),
		Hold:           time.Duration(rapid.IntRange(0, 4000).Draw(t, "hold")) * time.Millisecond,
	}
}

// slot is one accepted message.
type slot struct {
	chatID int64
	at     time.Time
}

// What is accepted never exceeds a limit in any window, however the calls come.
func TestNoWindowIsExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := someLimits(t)
		l := newLimiter(false)
		now := time.Unix(1_800_000_000, 0)
		var slots []slot
		for i := range rapid.IntRange(1, 120).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 40, 333, 1000, 20000}).Draw(t, "gap")) * time.Millisecond)
			chatID := int64(rapid.IntRange(-2, 2).Draw(t, "chat"))
			g := l.decide(limits, chatID, answeredCaller(i, now), now)
			if g.retryAfter > 0 {
				continue
			}
			if wait := g.at.Sub(now); wait < 0 || wait > limits.Hold {
				t.Fatalf("a message is held for %v", wait)
			}
			slots = append(slots, slot{chatID, g.at})
		}
		checkWindows(t, limits, slots)
	})
}

// checkWindows counts by brute force.
func checkWindows(t interface{ Fatalf(string, ...any) }, limits Limits, slots []slot) {
	count := func(from slot, span time.Duration, matches func(slot) bool) int {
		n := 0
		for _, s := range slots {
			if d := s.at.Sub(from.at); matches(s) && d >= 0 && d < span {
				n++
			}
		}
		return n
	}
	interval, burst := limits.chatInterval(), max(1, limits.ChatBurst)
	for _, first := range slots {
		sameChat := func(s slot) bool { return s.chatID == first.chatID }
		if n := count(first, time.Second, func(slot) bool { return true }); limits.BotPerSecond > 0 && n > limits.BotPerSecond {
			t.Fatalf("%d messages of the bot in a second", n)
		}
		if n := count(first, time.Minute, sameChat); first.chatID < 0 && limits.GroupPerMinute > 0 && n > limits.GroupPerMinute {
			t.Fatalf("%d messages to a group in a minute", n)
		}
		for intervals := 1; interval > 0 && intervals <= 4; intervals++ {
			span := time.Duration(intervals) * interval
			if n := count(first, span, sameChat); n > burst+intervals-1 {
				t.Fatalf("%d messages to a chat in %v", n, span)
			}
		}
	}
}

// A client that waits as long as it was told is accepted, if nobody takes its
// place meanwhile; and never is a wait announced that was not needed.
func TestWaitingAsToldIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := someLimits(t)
		l := newLimiter(rapid.Bool().Draw(t, "penalize"))
		now := time.Unix(1_800_000_000, 0)
		for i := range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "gap")) * time.Millisecond)
			chatID := int64(rapid.IntRange(-2, 2).Draw(t, "chat"))
			g := l.decide(limits, chatID, answeredCaller(i, now), now)
			if g.retryAfter == 0 {
				continue
			}
			wait := time.Duration(g.retryAfter) * time.Second
			if wait <= limits.Hold {
				t.Fatalf("a wait of %v was announced, %v could be held", wait, limits.Hold)
			}
			now = now.Add(wait)
			again := l.decide(limits, chatID, answeredCaller(i, now), now)
			if again.retryAfter != 0 || !again.at.Equal(now) {
				t.Fatalf("refused after %v: %+v", wait, again)
			}
			if len(again.violated) > 0 {
				t.Fatalf("%v was waited and yet counted as a violation of %v", wait, again.violated)
			}
		}
	})
}

func TestAnnouncedWaits(t *testing.T) {
	const millisecond = time.Millisecond
	start := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		limits  Limits
		calls   []slot // only chatID and the time since start count
		seconds int    // of the last call; the others are accepted
	}{
		"chat": {Limits{ChatPerSecond: 1}, slots(start, 7, 0, 7, 0), 1},
		"a chat waits what is left, rounded up": {
			Limits{ChatPerSecond: 0.25}, slots(start, 7, 0, 7, 1500*millisecond), 3},
		"another chat does not wait": {Limits{ChatPerSecond: 1}, slots(start, 7, 0, 8, 0), 0},
		"burst":                      {Limits{ChatPerSecond: 1, ChatBurst: 3}, slots(start, 7, 0, 7, 0, 7, 0, 7, 0), 1},
		"bot":                        {Limits{BotPerSecond: 2}, slots(start, 1, 0, 2, 500*millisecond, 3, 999*millisecond), 1},
		"bot, a second later":        {Limits{BotPerSecond: 2}, slots(start, 1, 0, 2, 500*millisecond, 3, 1000*millisecond), 0},
		"bot, sliding": {
			Limits{BotPerSecond: 2}, slots(start, 1, 0, 2, 500*millisecond, 3, 1000*millisecond, 4, 1400*millisecond), 1},
		"group":           {Limits{GroupPerMinute: 2}, slots(start, -5, 0, -5, 10*time.Second, -5, 20*time.Second), 40},
		"no group":        {Limits{GroupPerMinute: 2}, slots(start, 5, 0, 5, 0, 5, 0), 0},
		"group, its rate": {Limits{GroupPerMinute: 20, ChatPerSecond: 1}, slots(start, -5, 0, -5, 0), 1},
		"the longest wins": {
			Limits{BotPerSecond: 1, ChatPerSecond: 0.1, GroupPerMinute: 1}, slots(start, -5, 0, -5, 0), 60},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(false)
			for i, call := range c.calls {
				g := l.decide(c.limits, call.chatID, answeredCaller(i, call.at), call.at)
				want := 0
				if i == len(c.calls)-1 {
					want = c.seconds
				}
				if g.retryAfter != want {
					t.Errorf("call %d: retry after %d, want %d", i, g.retryAfter, want)
				}
			}
		})
	}
}

// slots makes calls of pairs of a chat id and a time since start.
func slots(start time.Time, pairs ...any) []slot {
	var list []slot
	for i := 0; i < len(pairs); i += 2 {
		var offset time.Duration
		if d, isDuration := pairs[i+1].(time.Duration); isDuration {
			offset = d
		}
		list = append(list, slot{int64(pairs[i].(int)), start.Add(offset)})
	}
	return list
}

func TestChangedRateKeepsWhatIsOwed(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	l := newLimiter(false)
	slow, fast := Limits{ChatPerSecond: 0.1}, Limits{ChatPerSecond: 10}
	l.decide(slow, 7, answeredCaller(1, start), start)
	if g := l.decide(fast, 7, answeredCaller(2, start), start); g.retryAfter != 1 {
		t.Errorf("at once: %+v", g)
	}
	if g := l.decide(fast, 7, answeredCaller(3, start), start.Add(100*time.Millisecond)); g.retryAfter != 0 {
		t.Errorf("one new interval later: %+v", g)
	}
}

// The count behind maxPerSecond is right even if events are added out of order.
func TestFullestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window{span: time.Second}
		start := time.Unix(1_800_000_000, 0)
		most, want := 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			at := start.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "at")) * 50 * time.Millisecond)
			w.add(at)
			most = max(most, w.fullest(at))
		}
		for i, first := range w.events {
			n := 0
			for _, other := range w.events[i:] {
				if other.Sub(first) < time.Second {
					n++
				}
			}
			want = max(want, n)
		}
		if most != want {
			t.Fatalf("%d, want %d", most, want)
		}
	})
}
