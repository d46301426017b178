package sandbox

import "time"

// bucket is a token bucket: events at a sustained interval, and after a rest
// some at once. It keeps its events in order and never asks for the time; they
// may lie in the future, as reserved slots.
type bucket struct {
	last     time.Time     // the latest event; zero before the first
	debt     time.Duration // what was owed right after it
	interval time.Duration // the interval that debt was counted in
}

// earliest is the first instant, not before t, at which one more event keeps to
// the interval and burst. An interval of zero means no limit.
func (b *bucket) earliest(t time.Time, interval time.Duration, burst int) time.Time {
	if interval == 0 || b.last.IsZero() {
		return t
	}
	// Debt drains with time; there is room while at most burst-1 intervals are
	// owed.
	room := b.last.Add(b.owed(interval) - time.Duration(burst-1)*interval)
	return later(t, later(room, b.last))
}

// add records an event.
func (b *bucket) add(t time.Time, interval time.Duration) {
	if interval == 0 {
		return
	}
	debt := interval
	if !b.last.IsZero() {
		debt += max(0, b.owed(interval)-t.Sub(b.last))
	}
	b.last, b.debt, b.interval = t, debt, interval
}

// owed is the debt right after the latest event, in terms of an interval that
// may have been changed since.
func (b *bucket) owed(interval time.Duration) time.Duration {
	if b.interval == interval {
		return b.debt
	}
	return time.Duration(float64(b.debt) / float64(b.interval) * float64(interval))
}
