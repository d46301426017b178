package outbox

import (
	"context"
	"errors"
	"time"

	"notifier/internal/database"
)

// round is one look at the database, in one transaction: it takes in what is new, goes on with work
// in slices, ends what has expired, and opens attempts for what is due. It changes no memory: what
// it found is applied after its commit.
type round struct {
	d   *Dispatcher
	now time.Time // our time
	// wall is the time by which people and other programs plan: the wall clock, while it is trusted.
	wall    time.Time
	machine channelMachine
	pauses  pauses
	crowd   bool  // rows of other programs are left to be taken in
	sweep   sweep // how far the walk over those that are due has come

	reload  bool // the identity was accepted: begin anew
	again   bool // there is more to do at once
	held    error
	granted []call
	ended   int    // messages that ended without a call
	task    int64  // the task that had a slice
	want    string // whose message waits for a sign of life
	ask     probe
	whom    string // whom the probe touches
	wrote   bool   // rows were taken in, joined their lines, or moved on
	limited bool   // the pace alone holds back the next call
	more    bool   // perhaps more could be granted when the pace allows it
	due     bool   // a message is due
	paced   bool   // a coming turn waits for the pace of its chat alone
	next    time.Time
}

// outcomeOfRound says how the pass goes on after a round.
type outcomeOfRound struct {
	again bool      // at once
	over  bool      // what waits, waits for longer than this pass should last
	next  time.Time // when something is due by itself
}

// round makes a round, and applies what it found.
func (d *Dispatcher) round(ctx context.Context) (outcomeOfRound, error) {
	if d.config.Held != nil {
		if err := d.config.Held(); err != nil {
			return outcomeOfRound{}, d.replaced(err)
		}
	}
	if err := d.followClock(ctx); err != nil {
		return outcomeOfRound{}, err
	}
	now := d.clock.Now()
	r := &round{}
	if d.changed.Swap(false) {
		d.writes++
	}
	err := d.db.Write(ctx, func(tx database.Tx) error {
		r = &round{d: d, now: now, wall: now, machine: d.machine, sweep: d.sweep}
		if d.clock.Trusted() {
			r.wall = d.clock.wall().Round(0).UTC()
		}
		return r.run(tx)
	})
	if errors.Is(err, ErrReplaced) {
		return outcomeOfRound{}, d.replaced(err)
	}
	if err != nil {
		d.changed.Store(true)
		return outcomeOfRound{}, err
	}
	return d.apply(ctx, r)
}

// apply lets memory follow what a round has committed, and starts its calls.
func (d *Dispatcher) apply(ctx context.Context, r *round) (outcomeOfRound, error) {
	if r.reload {
		d.loaded = false
		return outcomeOfRound{again: true}, nil
	}
	d.machine, d.lastTask, d.next, d.sweep = r.machine, r.task, r.next, r.sweep
	if r.wrote || len(r.granted) > 0 || r.ended > 0 {
		d.writes++
	}
	d.report.Ended += r.ended
	if r.limited && d.wanted.IsZero() {
		d.wanted = r.now
	}
	for _, c := range r.granted {
		if !d.wanted.IsZero() {
			d.watch.Limited(r.now.Sub(d.wanted))
			d.wanted = time.Time{}
		}
		d.limiter.Started(c.address, c.started)
		d.calls[c.attempt] = c
		d.launch(c)
	}
	if r.ask != probeNone {
		d.probe(r.ask, r.whom)
	}
	if r.more && len(d.calls) < d.config.Concurrency {
		if room, at := d.limiter.Room(r.now); room > 0 {
			r.again = true
		} else {
			r.limited, r.next, d.next = true, earlier(r.next, at), earlier(r.next, at)
		}
	}
	if foreign, err := d.db.ForeignCommits(ctx); err == nil {
		d.foreign, d.looked = foreign, r.now
	}
	d.tellStatus(ctx, r.now)
	o := outcomeOfRound{again: r.again, next: r.next}
	o.over = !r.limited && !r.paced
	return o, r.held
}

// run is the transaction of a round.
func (r *round) run(tx database.Tx) error {
	d := r.d
	s, err := d.box.sender(tx)
	if err != nil {
		return err
	}
	if s.holder != d.holder {
		return ErrReplaced
	}
	r.machine, _ = r.machine.step(storedEvent{s, d.config.Identity}, r.now)
	switch {
	case r.machine.othersBot():
		r.held = r.machine.identity
		return nil
	case d.machine.othersBot():
		r.reload = true
		return nil
	}
	if r.pauses, err = d.box.pauses(tx); err != nil {
		return err
	}
	if err := r.keepUp(tx); err != nil {
		return err
	}
	if err := d.box.settleAll(tx); err != nil {
		return err
	}
	if err := r.grant(tx); err != nil {
		return err
	}
	r.greet()
	if err := d.box.settleAll(tx); err != nil {
		return err
	}
	return r.findNext(tx)
}

// keepUp does what has nothing to do with calls.
func (r *round) keepUp(tx database.Tx) error {
	box := r.d.box
	taken, moreNew, err := box.takeIn(tx, r.now)
	if err != nil {
		return err
	}
	if r.task, err = box.runTask(tx, r.now, r.d.lastTask); err != nil {
		return err
	}
	joined, morePlanned, err := box.joinLine(tx, r.now, r.wall)
	if err != nil {
		return err
	}
	moreOld := false
	if r.d.clock.Trusted() {
		if r.ended, moreOld, err = box.expire(tx, r.now, r.wall, r.pauses); err != nil {
			return err
		}
	}
	r.crowd = moreNew
	r.wrote = taken+joined > 0 || r.task != 0
	r.again = moreNew || morePlanned || moreOld || r.task != 0 || r.d.lastTask != 0
	return nil
}
