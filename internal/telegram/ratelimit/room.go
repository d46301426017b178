package ratelimit

import "time"

// Room implements outbox.Pacer. While calls are under way the true instant may turn out later, when
// they take long, but never earlier: whoever sleeps until then and asks again loses no time.
func (l *Limiter) Room(now time.Time) (calls int, at time.Time) {
	rate := l.ramp.rate(now)
	due := l.schedule.next(rate)
	if due.After(now) {
		return 0, latest(due, l.window.next(quota(rate, time.Second), now, l.trips.floor()))
	}
	if at := l.window.next(quota(rate, time.Second), now, l.trips.floor()); at.After(now) {
		return 0, at
	}
	calls = 1
	if late := now.Sub(due); !due.IsZero() && late <= lateness { // make good what a late wake-up missed
		calls += int(late / interval(rate))
	}
	return min(calls, l.window.room(quota(rate, time.Second), now, l.trips.floor())), time.Time{}
}

// NextTo implements outbox.Pacer.
func (l *Limiter) NextTo(address string, now time.Time) time.Time {
	return l.chats.next(address, now, l.trips.floor())
}

// room is how many calls fit now.
func (w *window) room(s share, now time.Time, floor time.Duration) int {
	busy := 0
	for _, c := range w.slots {
		if c.free(s.per, now, floor).After(now) {
			busy++
		}
	}
	return s.calls - busy
}
