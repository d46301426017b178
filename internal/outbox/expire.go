package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"notifier/internal/database"
)

// expire ends messages whose age limit has passed, whatever else holds them up: a gate, an outage,
// a missing link. While the clock cannot be trusted it ends none.
func (d *Dispatcher) expire(ctx context.Context, now time.Time) error {
	var due []*queue
	for q := d.queues.expiring.top(); q != nil && !q.expires.After(now) && len(due) < d.config.BatchSize; q = d.queues.expiring.top() {
		d.queues.expiring.remove(q)
		q.expires = time.Time{}
		due = append(due, q)
	}
	if len(due) == 0 {
		return nil
	}
	if !d.clock.Trusted() {
		for _, q := range due {
			d.queues.expiresBy(q, now.Add(time.Minute))
		}
		return nil
	}
	err := d.db.Write(ctx, func(tx database.Tx) error {
		for _, q := range due {
			next, err := d.expireQueue(tx, q.key, now)
			if err != nil {
				return err
			}
			d.queues.expiresBy(q, next)
			d.queues.makeReady(q) // so that it is forgotten if nothing is left
		}
		return nil
	})
	if err != nil { // nothing of it happened, for none of them
		for _, q := range due {
			d.queues.expiresBy(q, now.Add(time.Second))
		}
	}
	return err
}

// expireQueue ends what has expired of a recipient, and says when the next may.
func (d *Dispatcher) expireQueue(tx database.Tx, key string, now time.Time) (time.Time, error) {
	const ofKey = ` FROM outbox m INDEXED BY outbox_waiting
		LEFT JOIN notifier_recipients r ON r.channel = m.channel AND r.address = m.recipient
		WHERE m.channel = ?1 AND m.state = 'pending' AND m.state IN ('pending', 'sending') AND m.recipient IN
			(SELECT ?2 UNION ALL SELECT address FROM notifier_recipients WHERE channel = ?1 AND alias_of = ?2)`
	var old []Message
	err := each(tx, func(r database.Row) error {
		m, err := scanMessage(r)
		old = append(old, m)
		return err
	}, `SELECT `+columns+ofKey+` AND `+d.expirySQL()+` <= ?3`, d.box.channel, key, now.UnixMilli())
	if err != nil {
		return time.Time{}, fmt.Errorf("find what has expired for %s: %w", key, err)
	}
	var next time.Time
	for _, m := range old {
		at := d.box.policy.expiry(m, d.pauses, now)
		if at.After(now) { // a pause has moved it
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		if err := d.end(tx, m, ReasonExpired, m.Detail, now); err != nil {
			return time.Time{}, err
		}
	}
	var bound sql.NullInt64
	err = tx.QueryRow(`SELECT min(`+d.expirySQL()+`)`+ofKey+` AND `+d.expirySQL()+` > ?3`,
		d.box.channel, key, now.UnixMilli()).Scan(&bound)
	if err != nil {
		return time.Time{}, fmt.Errorf("find what expires next for %s: %w", key, err)
	}
	if at := instant(bound); !at.IsZero() && (next.IsZero() || at.Before(next)) {
		next = at
	}
	return next, nil
}
