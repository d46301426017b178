package ratelimit

import (
	"math"
	"testing"
	"time"
)

func TestSlowHalvesAndClimbsBack(t *testing.T) {
	r := ramp{full: 28}
	r.slow(epoch)
	for _, c := range []struct {
		at   time.Duration
		want float64
	}{{0, 14}, {999 * time.Millisecond, 14}, {time.Second, 16.8}, {4 * time.Second, 25.2}, {5 * time.Second, 28}, {time.Hour, 28}} {
		if got := r.rate(after(c.at)); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("after %v: got %v, want %v", c.at, got, c.want)
		}
	}
	r.slow(after(time.Second))
	if got := r.rate(after(time.Second)); math.Abs(got-8.4) > 1e-9 {
		t.Errorf("slowed again: got %v", got)
	}
	for range 20 {
		r.slow(after(2 * time.Second))
	}
	if got := r.rate(after(2 * time.Second)); got != 1 {
		t.Errorf("the bottom: got %v", got)
	}
	slow := ramp{full: 0.2}
	slow.slow(epoch)
	if got := slow.rate(epoch); got != 0.2 {
		t.Errorf("the bottom of a rate below one: got %v", got)
	}
}

func TestSlowHoldsInTheWindow(t *testing.T) {
	p := newLimiter(t, Rates{28, 1, 18})
	starts := drive(p, 28, 0)
	now := starts[27]
	p.Slow(after(now))
	next := p.Next("x", after(now)).Sub(epoch)
	if next < now+time.Second/14 {
		t.Errorf("the next call comes after %v", next-now)
	}
	if want := starts[14] + time.Second; next < want {
		t.Errorf("the next call comes at %v, while 14 of the last second end at %v", next, want)
	}
}
