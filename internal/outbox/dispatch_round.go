package outbox

import (
	"context"
	"database/sql"
	"fmt"
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
	if d.clock.Stepped() {
		d.log.Warn("the clock was set")
	}
	d.tellClock()
	now := d.clock.Now()
	r := &round{}
	if d.changed.Swap(false) {
		d.writes++
	}
	err := d.db.Write(ctx, func(tx database.Tx) error {
		r = &round{d: d, now: now, wall: now, machine: d.machine}
		if d.clock.Trusted() {
			r.wall = d.clock.wall().Round(0).UTC()
		}
		return r.run(tx)
	})
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
	d.machine, d.lastTask, d.next = r.machine, r.task, r.next
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
		return d.replaced(ErrReplaced)
	}
	r.machine, _ = r.machine.step(storedEvent{s, d.config.Identity}, r.now)
	if r.machine.identity != nil {
		r.held = r.machine.identity
		return nil
	}
	if d.machine.identity != nil {
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
	r.greet()
	if err := r.grant(tx); err != nil {
		return err
	}
	if err := d.box.settleAll(tx); err != nil {
		return err
	}
	return r.findNext(tx)
}

// keepUp does what has nothing to do with calls.
func (r *round) keepUp(tx database.Tx) error {
	box := r.d.box
	taken, err := box.takeIn(tx, r.now, mostRows)
	if err != nil {
		return err
	}
	if r.task, err = box.runTask(tx, r.now, r.d.lastTask); err != nil {
		return err
	}
	joined, err := box.joinLine(tx, r.now, r.wall, mostRows)
	if err != nil {
		return err
	}
	expired := 0
	if r.d.clock.Trusted() {
		if expired, err = box.expire(tx, r.now, r.wall, r.pauses, mostRows); err != nil {
			return err
		}
	}
	r.ended += expired
	r.wrote = taken+joined > 0 || r.task != 0
	r.again = taken == mostRows || r.task != 0 || r.d.lastTask != 0 || joined == mostRows || expired == mostRows
	return nil
}

// joinLine lets planned messages join the line of their recipients when their time has come.
func (o *Outbox) joinLine(tx database.Tx, now, wall time.Time, limit int) (int, error) {
	type planned struct {
		id   int64
		line string
	}
	var list []planned
	err := each(tx, func(row database.Row) error {
		var p planned
		err := row.Scan(&p.id, &p.line)
		list = append(list, p)
		return err
	}, `SELECT id, address FROM outbox INDEXED BY outbox_planned WHERE channel = ? AND state = 'pending'
		AND address IS NOT NULL AND hold = 1 AND ready_at <= ? ORDER BY ready_at LIMIT ?`, o.channel, wall.UnixMilli(), limit)
	if err != nil {
		return 0, fmt.Errorf("look for planned messages: %w", err)
	}
	for _, p := range list {
		if _, err := tx.Exec(`UPDATE outbox SET hold = 0, ready_at = ? WHERE id = ?`, now.UnixMilli(), p.id); err != nil {
			return 0, fmt.Errorf("let message %d join the line: %w", p.id, err)
		}
		o.touch(tx, p.line)
	}
	return len(list), nil
}

// Conditions of the two indexes of the age limit.
const (
	expiresBy = `state = 'pending' AND address IS NOT NULL AND expires_at IS NOT NULL`
	agesBy    = `state = 'pending' AND address IS NOT NULL AND expires_at IS NULL`
)

// expire ends messages whose age limit has passed, whatever else holds them up: a gate, an outage,
// a missing link.
func (o *Outbox) expire(tx database.Tx, now, wall time.Time, ps pauses, limit int) (int, error) {
	list, err := o.messagesBy(tx, `INDEXED BY outbox_expires WHERE channel = ? AND `+expiresBy+`
		AND expires_at <= ? ORDER BY expires_at`, o.channel, wall.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("look for what has expired: %w", err)
	}
	for hold := holdNone; hold <= holdNoChat; hold++ {
		old, err := o.messagesBy(tx, `INDEXED BY outbox_age WHERE channel = ? AND hold = ? AND `+agesBy+`
			AND age_from <= ? ORDER BY age_from`, o.channel, hold, ps.before(o.policy.ttl(hold), wall).UnixMilli())
		if err != nil {
			return 0, fmt.Errorf("look for what is too old: %w", err)
		}
		list = append(list, old...)
	}
	list = list[:min(len(list), limit)]
	s := newSlice()
	for i, m := range list {
		if !s.more() {
			return max(i, limit), nil // there is more
		}
		if err := o.finish(tx, m, ending{Dead, ReasonExpired, "", now}); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// findNext finds out when something will be due by itself.
func (r *round) findNext(tx database.Tx) error {
	if r.again {
		r.next = r.now
		return nil
	}
	if greet, at := r.machine.mayGreet(r.now); !greet {
		r.next = earlier(r.next, at)
	}
	if r.want != "" && r.ask == probeNone {
		if ask, at := r.machine.maySign(r.now); !ask {
			r.next = earlier(r.next, at)
		}
	}
	if err := r.nextTurn(tx); err != nil {
		return err
	}
	return r.nextAge(tx)
}

// nextTurn finds the earliest turn in the future, and the next planned message.
func (r *round) nextTurn(tx database.Tx) error {
	horizon := r.horizon()
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		var at, pace sql.NullInt64
		err := tx.QueryRow(`SELECT turn_at, pace_until FROM notifier_recipients INDEXED BY notifier_recipients_turn
			WHERE channel = ? AND turn_rank = ? AND turn_at IS NOT NULL AND turn_at > ? ORDER BY turn_at LIMIT 1`,
			r.d.box.channel, rank, horizon.UnixMilli()).Scan(&at, &pace)
		if err != nil && !isNoRows(err) {
			return fmt.Errorf("look for the next turn: %w", err)
		}
		if at.Valid {
			r.consider(instant(at).Add(-horizon.Sub(r.now)), at == pace)
		}
	}
	var planned sql.NullInt64
	err := tx.QueryRow(`SELECT min(ready_at) FROM outbox INDEXED BY outbox_planned WHERE channel = ? AND state = 'pending'
		AND address IS NOT NULL AND hold = 1`, r.d.box.channel).Scan(&planned)
	if err != nil {
		return fmt.Errorf("look for the next planned message: %w", err)
	}
	if planned.Valid {
		r.consider(r.now.Add(instant(planned).Sub(r.wall)), false)
	}
	return nil
}

// consider notes an instant at which a message will be due.
func (r *round) consider(at time.Time, paced bool) {
	if r.next.IsZero() || at.Before(r.next) {
		r.next = at
	}
	if r.held == nil {
		r.paced = r.paced || paced
	}
}

// nextAge finds out when the next message expires.
func (r *round) nextAge(tx database.Tx) error {
	if !r.d.clock.Trusted() {
		return nil // the channel's time will come with an answer
	}
	box := r.d.box
	var at sql.NullInt64
	err := tx.QueryRow(`SELECT min(expires_at) FROM outbox INDEXED BY outbox_expires WHERE channel = ? AND `+expiresBy,
		box.channel).Scan(&at)
	if err != nil {
		return fmt.Errorf("look for what expires next: %w", err)
	}
	if at.Valid {
		r.next = earlier(r.next, r.now.Add(instant(at).Sub(r.wall)))
	}
	for hold := holdNone; hold <= holdNoChat; hold++ {
		var from sql.NullInt64
		err := tx.QueryRow(`SELECT min(age_from) FROM outbox INDEXED BY outbox_age WHERE channel = ? AND hold = ? AND `+agesBy,
			box.channel, hold).Scan(&from)
		if err != nil {
			return fmt.Errorf("look for what is too old next: %w", err)
		}
		if from.Valid {
			end := r.pauses.after(instant(from), box.policy.ttl(hold), r.wall)
			if end.After(r.wall) { // else a pause goes on, during which nothing ages
				r.next = earlier(r.next, r.now.Add(end.Sub(r.wall)))
			}
		}
	}
	return nil
}
