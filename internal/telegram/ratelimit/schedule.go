package ratelimit

import "time"

// lateness is how late a call may come and still count as on time. A wake-up a few milliseconds
// late is then made good by the next one, and does not slow the bot down for good.
const lateness = 20 * time.Millisecond

// schedule spaces the calls of the bot evenly, also the first ones after a rest: calls that start
// together arrive in an order and at distances that nobody controls.
type schedule struct{ last time.Time }

func (s *schedule) next(rate float64) time.Time {
	if s.last.IsZero() {
		return time.Time{}
	}
	return s.last.Add(interval(rate))
}

// book notes a call. One that is a little late keeps the appointment it had, so that the next one
// follows in time; one that comes after a rest begins a new row.
func (s *schedule) book(rate float64, at time.Time) {
	due := s.next(rate)
	switch {
	case at.Before(due):
		s.last = latest(s.last, at)
	case at.Sub(due) <= lateness:
		s.last = due
	default:
		s.last = at
	}
}

// interval is the time from one call to the next.
func interval(rate float64) time.Duration {
	return time.Duration(float64(time.Second) / rate)
}

// ramp lowers the bot's rate after a flood and lets it climb back.
type ramp struct {
	full  float64   // the configured rate, per second
	low   float64   // the rate at since
	since time.Time // zero: never slowed
}

// climb is the part of the full rate that a second without a flood gives back.
const climb = 0.1

// rate is the rate that holds now, per second. It climbs in steps of whole seconds.
func (r *ramp) rate(now time.Time) float64 {
	if r.since.IsZero() {
		return r.full
	}
	seconds := max(0, now.Sub(r.since)/time.Second)
	return min(r.full, r.low+climb*r.full*float64(seconds))
}

// slow halves the rate that holds now, but not below one call a second or, where less is
// configured, that.
func (r *ramp) slow(now time.Time) {
	r.low = max(min(1, r.full), r.rate(now)/2)
	r.since = now
}
