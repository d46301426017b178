package outbox

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/database"
)

// call is one attempt that is under way.
type call struct {
	attempt, message int64
	address          string
	epoch            int64
	accepted, spared bool      // as of the recipient, see Guard
	created          time.Time // when the message was created or planned for
	queue            *queue
	letter           Letter
	started          time.Time // when the pace granted it
}

// start starts whatever may start now. It returns when the pass should look again although
// nothing has happened – zero when there is nothing more to do in this pass – and, as an error,
// what holds up the whole channel.
func (d *Dispatcher) start(ctx context.Context, now time.Time) (time.Time, error) {
	switch {
	case d.paused:
		return time.Time{}, ErrPaused
	case d.gate.After(now):
		return time.Time{}, ErrGated
	case d.breaker.Open():
		return d.startProbing(ctx, now)
	case d.guard.Active():
		return d.startGuarded(ctx, now)
	}
	for {
		d.startSignProbe(now)
		until, ok := d.mayStart(now)
		if !ok {
			return until, nil
		}
		started, err := d.startNext(ctx, now)
		if err != nil {
			return time.Time{}, err
		}
		if !started {
			break
		}
	}
	if d.queues.paced > 0 {
		return d.queues.later.top().until, nil
	}
	return time.Time{}, nil
}

// mayStart asks the rules about the whole channel for one more call, and when to ask again. A
// zero instant means after an answer, which ends the pass when none is awaited.
func (d *Dispatcher) mayStart(now time.Time) (until time.Time, ok bool) {
	if d.queues.ready.Len() == 0 {
		if d.queues.paced > 0 {
			return d.queues.later.top().until, false
		}
		return time.Time{}, false
	}
	if d.calls >= d.config.Concurrency {
		return time.Time{}, false
	}
	if !d.canary.Free() {
		if next := d.canary.Next(now); next.After(now) {
			return next, false
		}
	}
	if next := d.pacer.Next("", now); next.After(now) {
		if d.wantedFor.IsZero() {
			d.wantedFor = now
		}
		return next, false
	}
	return time.Time{}, true
}

// startNext starts the calls that the pace grants at this instant; they share a commit. It says
// whether the round should go on.
func (d *Dispatcher) startNext(ctx context.Context, now time.Time) (bool, error) {
	var granted []call
	looked := 0
	err := d.db.Write(ctx, func(tx database.Tx) error {
		granted, looked = granted[:0], 0
		for looked < d.config.BatchSize {
			if _, ok := d.mayStart(now); !ok {
				return nil
			}
			q := d.choose(now)
			looked++
			c, err := d.decide(tx, q, now)
			if err != nil {
				return err
			}
			if c != nil {
				d.book(*c, now)
				granted = append(granted, *c)
			}
		}
		return nil
	})
	if err != nil {
		d.takeBack(granted, now)
		d.rescan = true
		return false, fmt.Errorf("start calls: %w", err)
	}
	for _, c := range granted {
		d.launch(ctx, c)
	}
	return looked > 0, nil
}

// startGuarded lets one message try while the guard holds.
func (d *Dispatcher) startGuarded(ctx context.Context, now time.Time) (time.Time, error) {
	d.startSignProbe(now)
	if d.guard.Next().After(now) {
		return time.Time{}, ErrGuarded
	}
	if until, ok := d.mayStart(now); !ok {
		return until, ErrGuarded
	}
	started, err := d.startOne(ctx, now, func() *queue { return d.queues.ready.top() })
	if err != nil {
		return time.Time{}, err
	}
	if started {
		d.guard.Tried(now)
	}
	return time.Time{}, ErrGuarded
}

// startOne starts a single call: that of the first recipient that choose comes up with for which
// one is due. It says whether there was one.
func (d *Dispatcher) startOne(ctx context.Context, now time.Time, choose func() *queue) (bool, error) {
	var c *call
	booked := false
	err := d.db.Write(ctx, func(tx database.Tx) error {
		for c == nil {
			q := choose()
			if q == nil {
				return nil
			}
			var err error
			if c, err = d.decide(tx, q, now); err != nil {
				return err
			}
		}
		d.book(*c, now)
		booked = true
		return nil
	})
	if err != nil {
		if booked {
			d.takeBack([]call{*c}, now)
		}
		d.rescan = true
		return false, fmt.Errorf("start a call: %w", err)
	}
	if c == nil {
		return false, nil
	}
	d.launch(ctx, *c)
	return true, nil
}

// choose picks the recipient whose turn it is: whoever has waited longest for it. The canary that
// decides about the whole channel goes to a private chat where there is one.
func (d *Dispatcher) choose(time.Time) *queue {
	if !d.canary.Free() && d.canary.Private() {
		if q := d.queues.ready.first(func(q *queue) bool { return isPrivate(q.key) }); q != nil {
			return q
		}
	}
	return d.queues.ready.top()
}

// isPrivate says whether an address is a private chat's; groups and channels have negative ids.
func isPrivate(address string) bool { return address != "" && address[0] != '-' }

// book notes with the rules that a call starts.
func (d *Dispatcher) book(c call, now time.Time) {
	d.queues.fly(c.queue)
	d.pacer.Started(c.address, now)
	if !d.canary.Free() {
		d.canary.Started(c.attempt, now)
	}
	if d.breaker.Open() {
		d.breaker.CanaryStarted(c.attempt)
	}
	if !d.wantedFor.IsZero() {
		d.watch.Limited(now.Sub(d.wantedFor))
		d.wantedFor = time.Time{}
	}
	d.calls++
}

// takeBack undoes the bookings of calls whose attempts could not be written. No call was made.
func (d *Dispatcher) takeBack(granted []call, now time.Time) {
	for _, c := range granted {
		d.calls--
		d.pacer.Ended(c.address, c.started, now, false)
		d.canary.Ended(c.attempt, c.started, NotSent, 0, now)
		d.breaker.Answered(c.attempt, now)
		c.queue.flying = false
		d.queues.makeReady(c.queue)
	}
}

// launch makes the call beside the pass. Shutting down does not end it: only its own time limit
// does, since a call that is cut off may have been taken.
func (d *Dispatcher) launch(ctx context.Context, c call) {
	ctx = context.WithoutCancel(ctx)
	d.report.Attempts++
	go func() {
		ctx, cancel := context.WithTimeout(ctx, d.config.SendTimeout)
		defer cancel()
		a := d.sender.Send(ctx, c.address, c.letter)
		d.events <- event{call: &c, answer: a, at: time.Now()}
	}()
}
