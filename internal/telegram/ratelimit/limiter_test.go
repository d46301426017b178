package ratelimit

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"notifier/internal/outbox"
)

var _ outbox.Limiter = (*Limiter)(nil)

var epoch = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return epoch.Add(d) }

func newLimiter(t testing.TB, r Rates) *Limiter {
	t.Helper()
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call books a whole call.
func call(p *Limiter, address string, start, trip time.Duration) {
	p.Started(address, after(start))
	p.Ended(address, after(start), after(start+trip), true)
}

func TestNewRefusesBadRates(t *testing.T) {
	good := Rates{Bot: 28, Chat: 1, Group: 18}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-9, 10_001} {
		for name, r := range map[string]Rates{
			"bot":   {bad, good.Chat, good.Group},
			"chat":  {good.Bot, bad, good.Group},
			"group": {good.Bot, good.Chat, bad},
		} {
			if p, err := New(r); err == nil || p != nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s rate %v: got %v, %v", name, bad, p, err)
			}
		}
	}
	for _, r := range []Rates{good, {0.5, 0.1, 0.5}, {1.0 / 86400, 1.0 / 86400, 1.0 / 1440}, {10_000, 10_000, 10_000}} {
		if _, err := New(r); err != nil {
			t.Errorf("%v: %v", r, err)
		}
	}
}

func TestNextIsNowForAnIdleBot(t *testing.T) {
	p := newLimiter(t, Rates{28, 1, 18})
	if got := p.Next("1", epoch); !got.Equal(epoch) {
		t.Errorf("got %v", got.Sub(epoch))
	}
}

func TestChatIntervalCountsFromTheAnswer(t *testing.T) {
	for _, c := range []struct {
		rate     float64
		interval time.Duration
	}{{1, time.Second}, {0.5, 2 * time.Second}, {3, 333333334}, {0.7, 1428571429}} {
		p := newLimiter(t, Rates{28, c.rate, 18})
		call(p, "7", 0, 2*time.Second)
		want := 2*time.Second + c.interval
		for _, now := range []time.Duration{2 * time.Second, 2*time.Second + c.interval/2, want - 1} {
			if got := p.Next("7", after(now)).Sub(epoch); got < want || got > want+time.Microsecond {
				t.Errorf("rate %v asked at %v: got %v, want %v", c.rate, now, got, want)
			}
		}
		if got := p.Next("7", after(want)); !got.Equal(after(want)) {
			t.Errorf("rate %v: not free at %v but at %v", c.rate, want, got.Sub(epoch))
		}
		if got := p.Next("8", after(2*time.Second)); !got.Equal(after(2 * time.Second)) {
			t.Errorf("another chat waits until %v", got.Sub(epoch))
		}
	}
}

func TestChatIntervalCountsFromTheStartWhileUnanswered(t *testing.T) {
	p := newLimiter(t, Rates{28, 1, 18})
	p.Started("7", epoch)
	if got := p.Next("7", epoch).Sub(epoch); got != time.Second {
		t.Errorf("got %v", got)
	}
	p.Ended("7", epoch, after(30*time.Second), false)
	if got := p.Next("7", after(30*time.Second)).Sub(epoch); got != 31*time.Second {
		t.Errorf("after the end without an answer: got %v", got)
	}
}

func TestGroupMinuteIsExact(t *testing.T) {
	p := newLimiter(t, Rates{28, 1, 18})
	now := time.Duration(0)
	var starts []time.Duration
	for len(starts) < 60 {
		next := p.Next("-100", after(now)).Sub(epoch)
		if next > now {
			now = next
			continue
		}
		starts = append(starts, now)
		call(p, "-100", now, 10*time.Millisecond)
	}
	for i := 18; i < len(starts); i++ {
		if gap := starts[i] - starts[i-18]; gap < time.Minute || gap > time.Minute+100*time.Millisecond {
			t.Errorf("calls %d and %d are %v apart", i-18, i, gap)
		}
	}
	if starts[17] > 18*time.Second {
		t.Errorf("the first 18 took until %v", starts[17])
	}
	if got := p.Next("-200", after(now)); got.After(after(now + time.Second/20)) {
		t.Errorf("another group waits until %v", got.Sub(epoch))
	}
}

func TestCallsAreSpacedEvenlyAfterAStartAndAfterARest(t *testing.T) {
	p := newLimiter(t, Rates{28, 1, 18})
	for _, begin := range []time.Duration{0, time.Hour} {
		now := begin
		for i := range 28 {
			address := fmt.Sprint(i)
			now = p.Next(address, after(now)).Sub(epoch)
			if want := begin + time.Duration(i)*time.Second/28; now < want-time.Microsecond || now > want+time.Millisecond {
				t.Fatalf("call %d after %v starts at %v, want %v", i, begin, now-begin, want-begin)
			}
			call(p, address, now, time.Millisecond)
		}
	}
}

func TestLateWakeUpsDoNotAccumulate(t *testing.T) {
	p := newLimiter(t, Rates{10, 1, 18})
	const late = 8 * time.Millisecond
	now := time.Duration(0)
	for i := range 9 {
		now = p.Next(fmt.Sprint(i), after(now)).Sub(epoch) + late
		call(p, fmt.Sprint(i), now, time.Millisecond)
	}
	if want := 800*time.Millisecond + 2*late; now > want {
		t.Errorf("the ninth call starts at %v, want at most %v", now, want)
	}
	call(p, "x", now+100*time.Millisecond+lateness+1, time.Millisecond)
	if got := p.Next("y", after(now+121*time.Millisecond)).Sub(epoch); got < now+220*time.Millisecond {
		t.Errorf("after a call that was too late the next one is at %v, so the row was not begun anew", got)
	}
}

func TestWindowWaitsForTheSlowRoundTrip(t *testing.T) {
	p := newLimiter(t, Rates{1, 1, 18})
	call(p, "1", 0, 300*time.Millisecond)
	if got := p.Next("2", after(300*time.Millisecond)).Sub(epoch); got != 1305*time.Millisecond {
		t.Errorf("nothing is known of the way, so the place frees a second after the answer: got %v", got)
	}
	for i := range enoughTrips {
		call(p, "1", time.Duration(i+1)*time.Minute, 100*time.Millisecond)
	}
	begin := time.Hour * 2
	call(p, "1", begin, 300*time.Millisecond)
	if got := p.Next("2", after(begin+300*time.Millisecond)).Sub(after(begin)); got != 1205*time.Millisecond {
		t.Errorf("on a steady way of 100 ms: got %v", got)
	}
}

func TestUnansweredCallHoldsItsPlaceOnlySoLong(t *testing.T) {
	p := newLimiter(t, Rates{1, 1, 18})
	p.Started("1", epoch)
	for now := time.Duration(0); now < 3*time.Second; now += 100 * time.Millisecond {
		if got := p.Next("2", after(now)); !got.After(after(now)) {
			t.Fatalf("free at %v", now)
		}
	}
	end := hold + time.Second + margin
	if got := p.Next("2", after(end-1)).Sub(epoch); got != end {
		t.Errorf("got %v, want %v", got, end)
	}
	if got := p.Next("2", after(end)).Sub(epoch); got != end {
		t.Errorf("got %v, want %v", got, end)
	}
	p.Ended("1", epoch, after(30*time.Second), false) // the place is long gone
	if got := p.Next("2", after(30*time.Second)).Sub(epoch); got != 30*time.Second {
		t.Errorf("got %v", got)
	}
}

func TestRateBelowOne(t *testing.T) {
	p := newLimiter(t, Rates{0.25, 1, 18})
	call(p, "1", 0, 0)
	if got := p.Next("2", epoch).Sub(epoch); got != 4*time.Second+margin {
		t.Errorf("got %v", got)
	}
}

func TestFractionOfARateIsNotRoundedUp(t *testing.T) {
	p := newLimiter(t, Rates{2.5, 1, 18})
	starts := drive(p, 20, 0)
	for i := 2; i < len(starts); i++ {
		if starts[i]-starts[i-2] < time.Second {
			t.Errorf("three calls in %v", starts[i]-starts[i-2])
		}
	}
}

// drive starts n calls to as many chats as early as the limiter allows.
func drive(p *Limiter, n int, from time.Duration) []time.Duration {
	starts := make([]time.Duration, 0, n)
	for now := from; len(starts) < n; {
		address := fmt.Sprint("d", len(starts))
		if next := p.Next(address, after(now)).Sub(epoch); next > now {
			now = next
			continue
		}
		call(p, address, now, 0)
		starts = append(starts, now)
	}
	return starts
}

func TestFeedOfPastAttempts(t *testing.T) {
	p := newLimiter(t, Rates{3, 1, 18})
	for _, ago := range []time.Duration{900, 100, 500, 700, 300} { // in any order, more than the rate
		p.Started(fmt.Sprint(ago), after(-ago*time.Millisecond))
		p.Ended(fmt.Sprint(ago), after(-ago*time.Millisecond), after(-ago*time.Millisecond), true)
	}
	if got := p.Next("x", epoch).Sub(epoch); got != 500*time.Millisecond+margin {
		t.Errorf("two of the last second must remain: got %v", got)
	}
}
