package ratelimit

import "time"

// Room implements outbox.Pacer. While calls are under way the true instant may turn out later, when
// they take long, but never earlier: whoever sleeps until then and asks again loses no time.
func (p *Limiter) Room(now time.Time) (calls int, at time.Time) {
	rate := p.ramp.rate(now)
	due := p.schedule.next(rate)
	if due.After(now) {
		return 0, latest(due, p.window.next(quota(rate, time.Second), now, p.trips.floor()))
	}
	if at := p.window.next(quota(rate, time.Second), now, p.trips.floor()); at.After(now) {
		return 0, at
	}
	calls = 1
	if late := now.Sub(due); !due.IsZero() && late <= lateness { // make good what a late wake-up missed
		calls += int(late / interval(rate))
	}
	return min(calls, p.window.room(quota(rate, time.Second), now, p.trips.floor())), time.Time{}
}

// NextTo implements outbox.Pacer.
func (p *Limiter) NextTo(address string, now time.Time) time.Time {
	return p.chats.next(address, now, p.trips.floor())
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
