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
	d.stepped = d.stepped || stepped
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
func (d *Dispatcher) shorten(ctx context.Context, now time.Time) error {
	longer := false
	err := d.db.Read(ctx, func(tx database.Tx) (err error) {
		longer, err = d.box.waitsLonger(tx, now)
		return err
	})
	if err != nil || !longer {
		return err
	}
	d.log.Warn("the clock is behind what it was; waits are counted anew")
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		after := ""
		_, err := d.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
			n, last, err := d.box.shortenSome(tx, now, rank, after, limit)
			after = last
			return n, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waitsLonger says whether a recipient's turn is further away than its waits were long when they
// were set. It looks at the turns in the future alone.
func (o *Outbox) waitsLonger(tx database.Tx, now time.Time) (bool, error) {
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		var longer bool
		err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM notifier_recipients r INDEXED BY notifier_recipients_turn
			JOIN outbox h ON h.id = r.head
			WHERE r.channel = ?1 AND r.turn_rank = ?2 AND r.turn_at IS NOT NULL AND r.turn_at > ?3
				AND (h.ready_at > ?3 + h.ready_wait OR r.gate_until > ?3 + r.gate_wait
					OR r.doubt_until > ?3 + r.doubt_wait OR r.pace_until > ?3 + r.pace_wait))`,
			o.channel, rank, now.UnixMilli()).Scan(&longer)
		if err != nil {
			return false, fmt.Errorf("look for waits that are too long: %w", err)
		}
		if longer {
			return true, nil
		}
	}
	return false, nil
}

// shortenSome does so for some recipients of a rank whose turns are in the future, after an address.
func (o *Outbox) shortenSome(tx database.Tx, now time.Time, rank int, after string, limit int) (int, string, error) {
	var addresses []string
	err := each(tx, func(r database.Row) error {
		var address string
		err := r.Scan(&address)
		addresses = append(addresses, address)
		return err
	}, `SELECT address FROM notifier_recipients WHERE channel = ? AND address > ? AND turn_at IS NOT NULL
		AND +turn_rank = ? AND +turn_at > ? ORDER BY address LIMIT ?`, o.channel, after, rank, now.UnixMilli(), limit)
	if err != nil {
		return 0, after, fmt.Errorf("look for turns in the future: %w", err)
	}
	for _, address := range addresses {
		after = address
		r, err := o.Recipient(tx, address)
		if err != nil {
			return 0, after, err
		}
		r.GateUntil = onClock(r.GateUntil, r.gateWait, now)
		r.doubtUntil = onClock(r.doubtUntil, r.doubtWait, now)
		r.paceUntil = onClock(r.paceUntil, r.paceWait, now)
		if err := o.save(tx, r); err != nil {
			return 0, after, err
		}
		_, err = tx.Exec(`UPDATE outbox SET ready_at = ?1 + ready_wait WHERE channel = ?2 AND address = ?3
			AND state = 'pending' AND address IS NOT NULL AND hold = 0 AND ready_at > ?1 + ready_wait`,
			now.UnixMilli(), o.channel, address)
		if err != nil {
			return 0, after, fmt.Errorf("shorten the waits of %s: %w", address, err)
		}
	}
	return len(addresses), after, nil
}
