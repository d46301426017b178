package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// decide looks at the recipient of q in the database and does what is due: it opens an attempt
// and returns the call to make, or ends messages that cannot go, or lets q wait. The caller
// has asked the rules about the whole channel.
func (d *Dispatcher) decide(tx database.Tx, q *queue, now time.Time) (*call, error) {
	r, err := d.box.Recipient(tx, q.key)
	if err != nil {
		return nil, err
	}
	if r.Address != q.key { // it became an alias: its messages stand in another queue
		d.queues.drop(q)
		return nil, d.lookAt(tx, q.key)
	}
	if r.State == RecipientDead {
		state, reason := r.fate()
		if err := d.box.endWaiting(tx, now, q.key, state, reason, ""); err != nil {
			return nil, err
		}
		// What is left are answers, which go out to a recipient that asked us to stop.
	}
	for {
		m, err := d.head(tx, q.key, now)
		if errors.Is(err, ErrNotFound) {
			return nil, d.planned(tx, q, now)
		}
		if err != nil {
			return nil, err
		}
		q.head = m.ID
		over := !d.box.policy.expiry(m, d.pauses, now).After(now)
		if over && !d.clock.known {
			d.awaitClock(q, now)
			return nil, nil
		}
		if over && d.clock.Trusted() {
			if err := d.end(tx, m, ReasonExpired, m.Detail, now); err != nil {
				return nil, err
			}
			continue
		}
		if waitsForLink(q.key) {
			d.queues.ready.remove(q) // its link will put a mark on it; q.expires is known
			return nil, nil
		}
		if until := d.notBefore(m, r, now); until.After(now) {
			d.queues.wait(q, until, false)
			return nil, nil
		}
		if m.Doubts > 0 && !d.signs.since(m.ID) {
			d.signs.want(q)
			d.queues.ready.remove(q)
			return nil, nil
		}
		if next := d.pacer.Next(q.key, now); next.After(now) {
			d.queues.wait(q, next, true)
			return nil, nil
		}
		letter, err := d.sender.Compose(Draft{MessageID: m.ID, Address: q.key, Type: m.Type, Payload: m.Payload, Plain: m.plain})
		var refused *Refusal
		if errors.As(err, &refused) {
			if err := d.end(tx, m, refused.Reason, refused.Detail, now); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("compose message %d: %w", m.ID, err)
		}
		return d.open(tx, q, m, r, letter, now)
	}
}

// awaitClock lets q wait until the channel has told its time, which is asked for at the start:
// until then what looks expired is neither ended nor sent.
func (d *Dispatcher) awaitClock(q *queue, now time.Time) {
	if d.greeting.asking {
		d.queues.wait(q, now.Add(50*time.Millisecond), true) // the answer may come at any moment
		return
	}
	d.queues.wait(q, latest(d.greeting.at, now.Add(time.Second)), false)
}

// head is the message that goes next to an address: the oldest one, those planned for later aside.
func (d *Dispatcher) head(tx database.Tx, key string, now time.Time) (Message, error) {
	return scanMessage(tx.QueryRow(`SELECT `+columns+` FROM outbox m
		LEFT JOIN notifier_recipients r ON r.channel = m.channel AND r.address = m.recipient
		WHERE m.id = (SELECT min(w.id) FROM outbox w INDEXED BY outbox_waiting
			WHERE w.channel = ?1 AND w.state = 'pending' AND w.state IN ('pending', 'sending')
			AND w.recipient IN (SELECT ?2 UNION ALL SELECT address FROM notifier_recipients
				WHERE channel = ?1 AND alias_of = ?2)
			AND coalesce(w.not_before, 0) <= ?3)`, d.box.channel, key, now.UnixMilli()))
}

// planned lets q wait for the planned time of its next message, or forgets it.
func (d *Dispatcher) planned(tx database.Tx, q *queue, now time.Time) error {
	var next, head sql.NullInt64
	err := tx.QueryRow(`SELECT min(not_before), min(id) FROM outbox INDEXED BY outbox_waiting
		WHERE channel = ?1 AND state = 'pending' AND state IN ('pending', 'sending')
		AND recipient IN (SELECT ?2 UNION ALL SELECT address FROM notifier_recipients
			WHERE channel = ?1 AND alias_of = ?2)`, d.box.channel, q.key).Scan(&next, &head)
	if err != nil {
		return fmt.Errorf("look for what is planned for %s: %w", q.key, err)
	}
	if !head.Valid {
		d.queues.drop(q)
		return nil
	}
	q.head = head.Int64
	d.queues.wait(q, onClock(instant(next), 0, now), false)
	q.planned = true
	return nil
}

// notBefore is when the head of a recipient may go: after the recipient's gate and doubt and the
// message's own wait.
func (d *Dispatcher) notBefore(m Message, r Recipient, now time.Time) time.Time {
	return latest(
		onClock(r.GateUntil, r.gateWait, now),
		onClock(r.doubtUntil, r.doubtWait, now),
		onClock(m.RetryAt, m.retryWait, now))
}

// open writes the attempt. Without its row there is no call.
func (d *Dispatcher) open(tx database.Tx, q *queue, m Message, r Recipient, l Letter, now time.Time) (*call, error) {
	c := &call{message: m.ID, address: q.key, epoch: r.epoch, accepted: r.accepted, spared: r.spared, created: latest(m.CreatedAt, m.NotBefore, m.ageFrom),
		queue: q, letter: l, started: now}
	err := tx.QueryRow(`INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at)
		VALUES (?, ?, ?, ?, ?) RETURNING id`, d.box.channel, m.ID, q.key, r.epoch, now.UnixMilli()).Scan(&c.attempt)
	if err != nil {
		return nil, fmt.Errorf("open an attempt for message %d: %w", m.ID, err)
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'sending', retry_at = NULL, retry_wait = NULL WHERE id = ?`, m.ID)
	if err != nil {
		return nil, fmt.Errorf("open an attempt for message %d: %w", m.ID, err)
	}
	return c, nil
}

// end ends a message that was never called for.
func (d *Dispatcher) end(tx database.Tx, m Message, reason, detail string, now time.Time) error {
	_, err := tx.Exec(`UPDATE outbox SET state = 'dead', reason = ?, detail = ?, ended_at = ?,
		retry_at = NULL, retry_wait = NULL WHERE id = ?`, reason, orNull(detail), now.UnixMilli(), m.ID)
	if err != nil {
		return fmt.Errorf("end message %d: %w", m.ID, err)
	}
	d.signs.forget(m.ID)
	d.report.Ended++
	return nil
}
