package outbox

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/database"
)

// lookAtClock notes whether the wall clock was set since the last look, and says so.
func (d *Dispatcher) lookAtClock() bool {
	stepped := d.clock.Stepped()
	if stepped {
		d.stepped = true
		d.machine, _ = d.machine.step(clockSetEvent{}, d.clock.Now())
	}
	return stepped
}

// followClock does what is to be done after the wall clock was set.
func (d *Dispatcher) followClock(ctx context.Context) error {
	d.lookAtClock()
	d.tellClock()
	if !d.stepped {
		return nil
	}
	d.log.Warn("the clock was set")
	if err := d.shorten(ctx, d.clock.Now().Add(d.clock.Ahead())); err != nil {
		return err
	}
	d.stepped = false
	return nil
}

// shorten makes waits that were set by a clock ahead of ours no longer than they were then: at the
// start, and when the wall clock is set back, by which other processes stamp what they want at once.
// It goes over all recipients, in steps, when there is a sign that such waits exist.
func (d *Dispatcher) shorten(ctx context.Context, now time.Time) error {
	ahead := false
	err := d.db.Read(ctx, func(tx database.Tx) (err error) {
		ahead, err = d.box.fromAhead(tx, now)
		return err
	})
	if err != nil || !ahead {
		return err
	}
	d.log.Warn("the clock is behind what it was; waits are counted anew")
	after := ""
	_, err = d.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		n, last, err := d.box.shortenSome(tx, now, after, limit)
		after = last
		return n, err
	})
	return err
}

// fromAhead says whether something was stored by a clock that was ahead of ours: one of the last
// attempts, a message in line that counts its age from the future, or a turn that is further away
// than its waits were long.
func (o *Outbox) fromAhead(tx database.Tx, now time.Time) (ahead bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM (SELECT coalesce(ended_at, started_at) AS at FROM notifier_attempts
			WHERE channel = ?1 ORDER BY id DESC LIMIT 50) WHERE at > ?3)
		OR EXISTS (SELECT 1 FROM outbox INDEXED BY outbox_age WHERE channel = ?1 AND hold = 0 AND `+agesBy+` AND age_from > ?3)
		OR EXISTS (SELECT 1 FROM notifier_recipients r INDEXED BY notifier_recipients_turn JOIN outbox h ON h.id = r.head
			WHERE r.channel = ?1 AND r.turn_rank BETWEEN 0 AND 2 AND r.turn_at IS NOT NULL AND r.turn_at > ?2
				AND (h.ready_at > ?2 + h.ready_wait OR r.gate_until > ?2 + r.gate_wait
					OR r.doubt_until > ?2 + r.doubt_wait OR r.pace_until > ?2 + r.pace_wait))`,
		o.channel, now.UnixMilli(), now.Add(stepAtLeast).UnixMilli()).Scan(&ahead)
	if err != nil {
		return false, fmt.Errorf("look for what a clock ahead of ours has stored: %w", err)
	}
	return ahead, nil
}

// shortenSome does so for the next recipients after an address.
func (o *Outbox) shortenSome(tx database.Tx, now time.Time, after string, limit int) (int, string, error) {
	list, err := o.Recipients(tx, "", after, limit)
	if err != nil {
		return 0, after, err
	}
	for _, r := range list {
		after = r.Address
		gate, doubt, pace := r.GateUntil, r.doubtUntil, r.paceUntil
		r.GateUntil = onClock(gate, r.gateWait, now)
		r.doubtUntil = onClock(doubt, r.doubtWait, now)
		r.paceUntil = onClock(pace, r.paceWait, now)
		if r.GateUntil != gate || r.doubtUntil != doubt || r.paceUntil != pace {
			if err := o.save(tx, r); err != nil {
				return 0, after, err
			}
		}
		res, err := tx.Exec(`UPDATE outbox SET ready_at = ?1 + ready_wait WHERE channel = ?2 AND address = ?3
			AND state = 'pending' AND address IS NOT NULL AND hold = 0 AND ready_at > ?1 + ready_wait`,
			now.UnixMilli(), o.channel, r.Address)
		if err != nil {
			return 0, after, fmt.Errorf("shorten the waits of %s: %w", r.Address, err)
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			o.touch(tx, r.Address)
		}
	}
	return len(list), after, nil
}
