package outbox

import (
	"database/sql"
	"fmt"
	"time"

	"notifier/internal/database"
)

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

// joinLine lets the next slice of planned messages join the line of their recipients when their time
// has come. It returns how many that were, and whether there are more.
func (o *Outbox) joinLine(tx database.Tx, now, wall time.Time) (int, bool, error) {
	list, err := o.messagesBy(tx, `INDEXED BY outbox_planned WHERE channel = ? AND state = 'pending'
		AND address IS NOT NULL AND hold = 1 AND ready_at <= ? ORDER BY ready_at`, o.channel, wall.UnixMilli())
	if err != nil {
		return 0, false, fmt.Errorf("look for planned messages: %w", err)
	}
	s := newSlice()
	for i, m := range list {
		if !s.more() {
			return i, true, nil
		}
		if _, err := tx.Exec(`UPDATE outbox SET hold = 0, ready_at = ? WHERE id = ?`, now.UnixMilli(), m.ID); err != nil {
			return 0, false, fmt.Errorf("let message %d join the line: %w", m.ID, err)
		}
		o.touch(tx, m.line)
	}
	return len(list), len(list) == mostRows, nil
}

// Conditions of the two indexes of the age limit.
const (
	expiresBy = `state = 'pending' AND address IS NOT NULL AND expires_at IS NOT NULL`
	agesBy    = `state = 'pending' AND address IS NOT NULL AND expires_at IS NULL`
)

// expire ends the next slice of messages whose age limit has passed, whatever else holds them up: a
// gate, an outage, a missing link. It returns how many that were, and whether there are more.
func (o *Outbox) expire(tx database.Tx, now, wall time.Time, ps pauses) (int, bool, error) {
	list, err := o.messagesBy(tx, `INDEXED BY outbox_expires WHERE channel = ? AND `+expiresBy+`
		AND expires_at <= ? ORDER BY expires_at`, o.channel, wall.UnixMilli())
	if err != nil {
		return 0, false, fmt.Errorf("look for what has expired: %w", err)
	}
	for hold := holdNone; hold <= holdNoChat; hold++ {
		old, err := o.messagesBy(tx, `INDEXED BY outbox_age WHERE channel = ? AND hold = ? AND `+agesBy+`
			AND age_from <= ? ORDER BY age_from`, o.channel, hold, ps.before(o.policy.ttl(hold), wall).UnixMilli())
		if err != nil {
			return 0, false, fmt.Errorf("look for what is too old: %w", err)
		}
		list = append(list, old...)
	}
	s := newSlice()
	for i, m := range list {
		if !s.more() {
			return i, true, nil
		}
		if err := o.finish(tx, m, ending{StateDead, ReasonExpired, "", now}); err != nil {
			return 0, false, err
		}
	}
	return len(list), len(list) >= mostRows, nil
}
