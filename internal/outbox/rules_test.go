package outbox

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestCanary(t *testing.T) {
	now := time.Now()
	var c Canary
	flood := func(attempt int64, started time.Time, n time.Duration) time.Duration {
		return c.Ended(attempt, started, Wait, n, now)
	}
	if !c.Free() {
		t.Fatal("calls are not free at the start")
	}
	if gate := flood(1, now.Add(-time.Millisecond), 9*time.Second); gate != 0 || c.Free() {
		t.Fatalf("after a first refusal: gate %v, free %v", gate, c.Free())
	}
	if gate := flood(2, now.Add(-time.Second), 5*time.Second); gate != 0 || c.Private() {
		t.Errorf("a call from before counted: gate %v", gate)
	}
	c.Started(3, now)
	if next := c.Next(now); next != now.Add(3*time.Second) {
		t.Errorf("the next canary may go in %v, want 3 s", next.Sub(now))
	}
	if gate := flood(3, now, 20*time.Second); gate != 0 || !c.Private() {
		t.Errorf("after the first canary's refusal: gate %v, private %v", gate, c.Private())
	}
	if next := c.Next(now); next != now {
		t.Errorf("the second canary may go in %v", next.Sub(now))
	}
	c.Started(4, now)
	if gate := flood(4, now, 30*time.Second); gate != 20*time.Second {
		t.Errorf("after the second canary's refusal the channel waits %v, want the smaller 20 s", gate)
	}
	if c.Free() {
		t.Error("no canary goes first after the channel's gate")
	}
	c.Started(5, now)
	if c.Ended(5, now, Accepted, 0, now); !c.Free() {
		t.Error("an acceptance did not free the rest")
	}
}

func TestACanaryIsAnsweredOnlyByTheChannel(t *testing.T) {
	now := time.Now()
	for v, frees := range map[Verdict]bool{
		Accepted: true, Rejected: true, ChatDead: true, ChatDoubtful: true, Repair: true, Moved: true,
		BotStopped: true, Failed: true, NotSent: false, NotFromChannel: false, Uncertain: false,
	} {
		var c Canary
		c.NewSpell(now)
		c.Started(1, now)
		c.Ended(1, now, v, 0, now)
		if c.Free() != frees {
			t.Errorf("%s frees the rest: %v, want %v", v, c.Free(), frees)
		}
		if c.Next(now) != now {
			t.Errorf("%s holds back the next canary", v)
		}
	}
}

// failing feeds a breaker with failures of these addresses.
func failing(b *Breaker, now time.Time, addresses ...string) (uncounted []Failure) {
	for i, a := range addresses {
		counts, before := b.Failed(Failure{Attempt: int64(i + 1), Message: int64(i + 1), Address: a, Counted: true}, "502", now)
		if !counts {
			uncounted = append(uncounted, Failure{Attempt: int64(i + 1)})
		}
		uncounted = append(uncounted, before...)
	}
	return uncounted
}

func TestThreeFailuresInARowOpenTheBreakerAndCountNot(t *testing.T) {
	now := time.Now()
	var b Breaker
	failing(&b, now, "1", "2")
	b.Accepted("3")
	if failing(&b, now, "1", "2"); b.Open() {
		t.Fatal("open after two failures")
	}
	if n := len(failing(&b, now, "3")); n != 3 || !b.Open() {
		t.Fatalf("after the third: %d are uncounted, open %v", n, b.Open())
	}
	if counts, _ := b.Failed(Failure{Attempt: 9, Address: "4"}, "502", now); counts {
		t.Error("a failure during the outage counts")
	}
}

func TestTheProbesOfAnOutage(t *testing.T) {
	now := time.Now()
	var b Breaker
	failing(&b, now, "1", "2", "3")
	for _, wait := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		step, at := b.Next(now)
		if step != StepNone || at != now.Add(time.Duration(wait)*time.Second) {
			t.Fatalf("the next probe is due in %v, want %d s", at.Sub(now), wait)
		}
		now = at
		if step, _ := b.Next(now); step != StepIdentify {
			t.Fatalf("then it wants %v", step)
		}
		b.Identifying()
		b.Identified(CallResult{Verdict: NotFromChannel}, now)
	}
	_, now = b.Next(now)
	b.Identifying()
	b.Identified(CallResult{Verdict: Wait, Answered: true}, now) // a 429 counts as an answer
	if step, _ := b.Next(now); step != StepTouch {
		t.Fatalf("after getMe it wants %v", step)
	}
	b.Touching()
	b.Touched(CallResult{Answered: true, OK: true}, now)
	if step, _ := b.Next(now); step != StepCanary {
		t.Fatalf("after the touch it wants %v", step)
	}
	b.CanaryStarted(50)
	if step, at := b.Next(now); step != StepNone || !at.IsZero() {
		t.Errorf("beside the canary it wants %v at %v", step, at)
	}
	if counts, _ := b.Failed(Failure{Attempt: 50, Address: "2"}, "500", now); !counts {
		t.Error("the failure of a canary whose touch was granted does not count")
	}
	if b.Accepted("2"); b.Open() {
		t.Error("open after an acceptance")
	}
}

func TestFailuresOfOneChatTryAnotherAtOnce(t *testing.T) {
	now := time.Now()
	var b Breaker
	failing(&b, now, "1", "1", "1")
	if step, _ := b.Next(now); step != StepCanary {
		t.Fatalf("it wants %v", step)
	}
	if avoid, strictly := b.Avoid(); avoid != "1" || !strictly {
		t.Errorf("it avoids %q, strictly %v", avoid, strictly)
	}
	b.CanaryStarted(60)
	if charge := b.Accepted("2"); charge == nil || charge.Address != "1" {
		t.Errorf("the spell is charged to %v", charge)
	}

	failing(&b, now, "1", "1", "1")
	b.NoOther()
	if step, at := b.Next(now); step != StepNone || at != now.Add(time.Second) {
		t.Errorf("without another chat it wants %v in %v", step, at.Sub(now))
	}
}

func TestARejectedTokenStopsAtOnceAndIsProbed(t *testing.T) {
	now := time.Now()
	var b Breaker
	b.Refused(1, "Unauthorized", now)
	if !b.Stopped() {
		t.Fatal("it is not stopped")
	}
	_, now = b.Next(now)
	b.Identifying()
	b.Identified(CallResult{Verdict: BotStopped}, now)
	if _, at := b.Next(now); at != now.Add(2*time.Second) {
		t.Errorf("the next probe is due in %v", at.Sub(now))
	}
	if b.Accepted("1"); b.Stopped() || b.Open() {
		t.Error("an acceptance does not end it")
	}
}

// Whatever happens, an open breaker always has something that it waits for or wants done, and a
// closed one has fewer than three failures in its row.
func TestTheBreakerNeverGetsStuck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		var b Breaker
		canary := int64(0)
		for i := int64(1); i < 60; i++ {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
			attempt := i
			if canary != 0 && rapid.Bool().Draw(t, "of the canary") {
				attempt, canary = canary, 0
			}
			switch rapid.SampledFrom([]string{"fail", "accept", "refuse", "answer", "step"}).Draw(t, "event") {
			case "fail":
				b.Failed(Failure{Attempt: attempt, Address: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "chat")}, "", now)
			case "accept":
				b.Accepted("1")
			case "refuse":
				b.Refused(attempt, "", now)
			case "answer":
				b.Answered(attempt, now)
			case "step":
				a := CallResult{Answered: rapid.Bool().Draw(t, "answered")}
				switch step, _ := b.Next(now); step {
				case StepIdentify:
					b.Identifying()
					b.Identified(a, now)
				case StepTouch:
					b.Touching()
					b.Touched(a, now)
				case StepCanary:
					canary = i
					b.CanaryStarted(i)
				case StepNone:
				}
			}
			step, at := b.Next(now)
			if b.Open() && step == StepNone && at.IsZero() && b.phase != flyingNow {
				t.Fatalf("open, and nothing to wait for: %+v", b)
			}
			if !b.Open() && len(b.row) >= breakerLimit {
				t.Fatalf("closed after %d failures", len(b.row))
			}
		}
	})
}

func TestExpiry(t *testing.T) {
	day := 24 * time.Hour
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := Policy{TTL: 3 * day, UnlinkedTTL: 30 * day}
	now := t0.Add(2 * day)
	for name, c := range map[string]struct {
		m    Message
		ps   pauses
		want time.Time
	}{
		"from its creation":         {Message{ageFrom: t0}, nil, t0.Add(3 * day)},
		"from its planned time":     {Message{ageFrom: t0.Add(day), NotBefore: t0.Add(day)}, nil, t0.Add(4 * day)},
		"from its link or retry":    {Message{ageFrom: t0.Add(2 * day)}, nil, t0.Add(5 * day)},
		"as the writer says":        {Message{ageFrom: t0, ExpiresAt: t0.Add(time.Hour)}, pauses{{t0, t0.Add(day)}}, t0.Add(time.Hour)},
		"without a link":            {Message{ageFrom: t0, hold: holdNoChat}, nil, t0.Add(30 * day)},
		"a pause does not count":    {Message{ageFrom: t0}, pauses{{t0.Add(day), t0.Add(day + time.Hour)}}, t0.Add(3*day + time.Hour)},
		"one that lasts does not":   {Message{ageFrom: t0}, pauses{{from: t0.Add(day)}}, t0.Add(4 * day)},
		"one from before counts":    {Message{ageFrom: t0}, pauses{{t0.Add(-day), t0.Add(-time.Hour)}}, t0.Add(3 * day)},
		"a part of one does not":    {Message{ageFrom: t0}, pauses{{t0.Add(-day), t0.Add(time.Hour)}}, t0.Add(3*day + time.Hour)},
		"one after its end is late": {Message{ageFrom: t0}, pauses{{t0.Add(4 * day), t0.Add(5 * day)}}, t0.Add(3 * day)},
		"pauses add up":             {Message{ageFrom: t0}, pauses{{t0, t0.Add(day)}, {t0.Add(3*day + time.Hour), t0.Add(4 * day)}}, t0.Add(5*day - time.Hour)},
	} {
		if got := p.expiry(c.m, c.ps, now); !got.Equal(c.want) {
			t.Errorf("%s: it expires at %v, want %v", name, got, c.want)
		}
	}
}

// The age limit is asked for in two directions; they agree, whatever pauses there were.
func TestBeforeIsTheInverseOfAfter(t *testing.T) {
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	span := func(n int) time.Duration { return time.Duration(random.IntN(n)) * time.Minute }
	for range 20_000 {
		var ps pauses
		at := t0
		for range random.IntN(4) {
			from := at.Add(span(100))
			at = from.Add(span(100))
			ps = append(ps, pause{from, at})
		}
		if random.IntN(3) == 0 {
			ps = append(ps, pause{from: at.Add(span(50))})
		}
		now := at.Add(50*time.Minute + span(200))
		ttl := time.Minute + span(300)
		limit := ps.before(ttl, now)
		if end := ps.after(limit, ttl, now); end.After(now) {
			t.Fatalf("%v, ttl %v, now %v: what ages from %v ends at %v", ps, ttl, now, limit, end)
		}
		if end := ps.after(limit.Add(time.Minute), ttl, now); !end.After(now) && !ps.paused(now) {
			t.Fatalf("%v, ttl %v, now %v: what ages from a minute after %v has ended at %v", ps, ttl, now, limit, end)
		}
	}
}

// paused says whether a pause lasts at an instant, or begins or ends there.
func (ps pauses) paused(at time.Time) bool {
	for _, p := range ps {
		if !p.from.After(at) && (p.to.IsZero() || !p.to.Before(at)) {
			return true
		}
	}
	return false
}

func TestTheClockIsTrustedOnlyNextToTheChannels(t *testing.T) {
	wall := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := NewClock(func() time.Time { return wall })
	if c.Trusted() || c.Doubt() == "" {
		t.Error("trusted before the channel has told its time")
	}
	c.Heard(time.Time{})
	if c.Trusted() {
		t.Error("trusted after an answer without a time")
	}
	if c.Heard(wall.Add(-6 * time.Minute)); c.Trusted() || !strings.Contains(c.Doubt(), "6m0s ahead of") {
		t.Errorf("six minutes ahead: trusted %v, %s", c.Trusted(), c.Doubt())
	}
	if c.Heard(wall.Add(4 * time.Minute)); !c.Trusted() {
		t.Error("not trusted although it is four minutes behind")
	}
	if c.Doubt() != "" {
		t.Errorf("four minutes behind: %s", c.Doubt())
	}
}

func TestAStepOfTheWallClockDoesNotMoveOurTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		offset := time.Duration(0)
		c := NewClock(func() time.Time { return time.Now().Add(offset) })
		c.Heard(time.Now())
		began := c.Now()
		time.Sleep(time.Minute)
		for _, step := range []time.Duration{4 * 24 * time.Hour, -30 * 24 * time.Hour, 0} {
			offset = step
			if !c.Stepped() || c.Known() {
				t.Errorf("a step to %v was not noticed", step)
			}
			if c.Stepped() {
				t.Errorf("a step to %v was noticed twice", step)
			}
			if got := c.Now().Sub(began); got != time.Minute {
				t.Errorf("after a step to %v our time has moved by %v", step, got)
			}
			c.Heard(time.Now())
			if want := step == 0; c.Trusted() != want {
				t.Errorf("after a step to %v the clock is trusted: %v", step, c.Trusted())
			}
		}
	})
}

func TestNoWaitIsLongerThanItWasStored(t *testing.T) {
	now := time.Now()
	if got := onClock(now.Add(365*24*time.Hour), time.Minute, now).Sub(now); got != time.Minute {
		t.Errorf("after the clock was set back a year, a wait of a minute is %v", got)
	}
	stored := time.UnixMilli(now.Add(40 * time.Second).UnixMilli())
	if got := onClock(stored, time.Minute, now).Sub(now); got > 40*time.Second || got < 39*time.Second {
		t.Errorf("40 s before its end, a wait is %v", got)
	}
	if got := onClock(now.Add(-time.Hour), time.Minute, now); got.After(now) {
		t.Error("a wait that is over holds")
	}
}
