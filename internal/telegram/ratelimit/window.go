package ratelimit

import (
	"slices"
	"time"
)

const (
	// margin covers the granularity of clocks and timers on both sides.
	margin = 5 * time.Millisecond
	// hold is the longest a call without an answer is taken to have been on its way: whatever
	// comes later, Telegram has had the request by then. Without such a bound, some calls that
	// hang would stop the bot for the length of the send timeout.
	hold = 2 * time.Second
	// maxFloor keeps the part of a round trip that is taken for granted below the window.
	maxFloor = 900 * time.Millisecond
)

// window keeps a number of calls in any span of time as the server sees them, which knows only
// when a request arrives. When that was we can only bound: a request arrives before its answer
// left, and a request that starts later arrives at least the fastest way there later. So with a
// floor below the sum of the fastest way there and the fastest way back, a call frees its place
//
//	started + span + (round trip − floor) + margin
//
// and the two arrivals are at least a span apart.
type window struct{ slots []slot }

// slot is the place of one call.
type slot struct {
	address  string
	started  time.Time
	ended    time.Time // zero while the call is under way
	answered bool
}

// next is the earliest instant at which another call fits. For a call under way it is the earliest
// instant that is still possible.
func (w *window) next(s share, now time.Time, floor time.Duration) time.Time {
	busy := 0
	var first time.Time
	for _, c := range w.slots {
		if free := c.free(s.per, now, floor); free.After(now) {
			if busy++; busy == 1 || free.Before(first) {
				first = free
			}
		}
	}
	switch {
	case busy < s.calls:
		return now
	case busy == s.calls:
		return first
	}
	return w.crowded(s, now, floor)
}

// crowded is next for a window with more calls than it takes, as there are after a start and after
// the rate was lowered.
func (w *window) crowded(s share, now time.Time, floor time.Duration) time.Time {
	free := make([]time.Time, 0, len(w.slots))
	for _, c := range w.slots {
		free = append(free, c.free(s.per, now, floor))
	}
	slices.SortFunc(free, time.Time.Compare)
	return free[len(free)-s.calls]
}

// free is when this call gives back its place.
func (c slot) free(span time.Duration, now time.Time, floor time.Duration) time.Time {
	arrived := c.started.Add(hold)
	switch {
	case c.ended.IsZero():
		arrived = earliest(arrived, now.Add(-floor))
	case c.answered:
		arrived = earliest(arrived, c.ended.Add(-floor))
	default:
		arrived = earliest(arrived, c.ended)
	}
	return latest(arrived, c.started).Add(span + margin)
}

// started takes a place. Places that no round trip could keep busy any longer are given up here,
// so that there are never more than those of the last few seconds.
func (w *window) started(address string, at time.Time, s share) {
	w.slots = slices.DeleteFunc(w.slots, func(c slot) bool { return c.over(at, s.per) })
	w.slots = append(w.slots, slot{address: address, started: at})
}

// over says that the call holds no place whatever we may still learn of round trips.
func (c slot) over(now time.Time, span time.Duration) bool {
	return !c.free(span, now, 0).After(now)
}

func (w *window) ended(address string, started, ended time.Time, answered bool) {
	for i := len(w.slots) - 1; i >= 0; i-- {
		if c := &w.slots[i]; c.ended.IsZero() && c.address == address && c.started.Equal(started) {
			c.ended, c.answered = ended, answered
			return
		}
	}
}

// empty says that no call holds a place.
func (w *window) empty(now time.Time, span time.Duration) bool {
	return !slices.ContainsFunc(w.slots, func(c slot) bool { return !c.over(now, span) })
}
