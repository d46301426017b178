package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Resolve says which address a recipient stands for: itself, or what it is an alias of. It is
// empty for a customer who has no address yet.
func (o *Outbox) Resolve(tx database.Tx, recipient string) (string, error) {
	var alias sql.NullString
	err := tx.QueryRow(`SELECT alias_of FROM notifier_recipients WHERE channel = ? AND address = ?`,
		o.channel, recipient).Scan(&alias)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("resolve recipient %s: %w", recipient, err)
	}
	return addressOf(recipient, alias.String), nil
}

const recipientColumns = `address, state, reason, detail, since, gate_until, gate_wait, flood_step,
	doubt_step, doubt_until, doubt_wait, epoch, accepted, spared`

// Recipient returns what is remembered of an address, or of what it is an alias of. One that was
// never heard of is open.
func (o *Outbox) Recipient(tx database.Tx, address string) (Recipient, error) {
	root, err := o.Resolve(tx, address)
	if err != nil {
		return Recipient{}, err
	}
	if root == "" {
		root = address
	}
	r, err := scanRecipient(tx.QueryRow(`SELECT `+recipientColumns+` FROM notifier_recipients
		WHERE channel = ? AND address = ?`, o.channel, root))
	if errors.Is(err, sql.ErrNoRows) {
		return Recipient{Address: root, State: RecipientOpen}, nil
	}
	return r, err
}

// Recipients lists addresses in one state (all of them that are remembered, if empty), in the
// order of their text, after the one given.
func (o *Outbox) Recipients(tx database.Tx, state RecipientState, after string, limit int) ([]Recipient, error) {
	rows, err := tx.Query(`SELECT `+recipientColumns+` FROM notifier_recipients
		WHERE channel = ? AND alias_of IS NULL AND (? = '' OR state = ?) AND address > ?
		ORDER BY address LIMIT ?`, o.channel, state, state, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list recipients: %w", err)
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	var list []Recipient
	for rows.Next() {
		r, err := scanRecipient(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

func scanRecipient(row database.Row) (Recipient, error) {
	var r Recipient
	var reason, detail sql.NullString
	var since, gateUntil, gateWait, doubtUntil, doubtWait sql.NullInt64
	err := row.Scan(&r.Address, &r.State, &reason, &detail, &since, &gateUntil, &gateWait,
		&r.floodStep, &r.doubtStep, &doubtUntil, &doubtWait, &r.epoch, &r.accepted, &r.spared)
	if err != nil {
		return r, fmt.Errorf("read a recipient: %w", err)
	}
	r.Reason, r.Detail, r.Since = reason.String, detail.String, instant(since)
	r.GateUntil, r.gateWait = instant(gateUntil), time.Duration(gateWait.Int64)*time.Millisecond
	r.doubtUntil, r.doubtWait = instant(doubtUntil), time.Duration(doubtWait.Int64)*time.Millisecond
	return r, nil
}

// fate is how messages end that can only go to this dead recipient.
func (r Recipient) fate() (State, string) {
	if r.Reason == RecipientStopped {
		return Canceled, ReasonStopped
	}
	return Dead, ReasonChatDead
}

// save writes what the rules change of a recipient.
func (o *Outbox) save(tx database.Tx, r Recipient) error {
	_, err := tx.Exec(`INSERT INTO notifier_recipients (channel, address, state, reason, detail, since,
			gate_until, gate_wait, flood_step, doubt_step, doubt_until, doubt_wait,
			accepted, spared)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (channel, address) DO UPDATE SET state = excluded.state, reason = excluded.reason,
			detail = excluded.detail, since = excluded.since, gate_until = excluded.gate_until,
			gate_wait = excluded.gate_wait, flood_step = excluded.flood_step,
			doubt_step = excluded.doubt_step, doubt_until = excluded.doubt_until,
			doubt_wait = excluded.doubt_wait, accepted = excluded.accepted, spared = excluded.spared`,
		o.channel, r.Address, r.State, orNull(r.Reason), orNull(r.Detail), millis(r.Since),
		millis(r.GateUntil), r.gateWait.Milliseconds(), r.floodStep, r.doubtStep,
		millis(r.doubtUntil), r.doubtWait.Milliseconds(), r.accepted, r.spared)
	if err != nil {
		return fmt.Errorf("save recipient %s: %w", r.Address, err)
	}
	return nil
}

// Revive opens a dead or doubtful recipient again. What was suppressed meanwhile stays ended. Who
// asked us to stop must ask us to start again: a *ConflictError then.
func (o *Outbox) Revive(tx database.Tx, _ time.Time, address string) (Recipient, error) {
	r, err := o.Recipient(tx, address)
	if err != nil {
		return r, err
	}
	if r.Reason == RecipientStopped {
		return r, &ConflictError{ConflictStopped, "this customer sent /stop: only their /start resumes messages"}
	}
	r.State, r.Reason, r.Detail, r.Since = RecipientOpen, "", "", time.Time{}
	r.doubtStep, r.doubtUntil, r.doubtWait = 0, time.Time{}, 0
	if err := o.save(tx, r); err != nil {
		return r, err
	}
	if _, err := tx.Exec(`UPDATE notifier_recipients SET epoch = epoch + 1 WHERE channel = ? AND address = ?`,
		o.channel, r.Address); err != nil {
		return r, fmt.Errorf("revive %s: %w", r.Address, err)
	}
	return r, o.touch(tx, r.Address)
}

// ReleaseGate lifts the gate of a recipient, if it has one.
func (o *Outbox) ReleaseGate(tx database.Tx, _ time.Time, address string) (Recipient, error) {
	r, err := o.Recipient(tx, address)
	if err != nil || r.GateUntil.IsZero() {
		return r, err
	}
	r.GateUntil, r.gateWait = time.Time{}, 0
	if err := o.save(tx, r); err != nil {
		return r, err
	}
	return r, o.touch(tx, r.Address)
}

// move makes an address an alias of the one it has moved to. Its messages follow in their order.
func (o *Outbox) move(tx database.Tx, from, to string) error {
	root, err := o.Resolve(tx, to)
	if err != nil {
		return err
	}
	if err := o.pointTo(tx, from, root); err != nil {
		return fmt.Errorf("move %s to %s: %w", from, root, err)
	}
	return nil
}

// takeBack opens an address that the guard takes back, and puts the messages on their way again
// that ended because it was dead or doubtful.
func (o *Outbox) takeBack(tx database.Tx, address string) error {
	r, err := o.Recipient(tx, address)
	if err != nil || r.Reason == RecipientStopped { // it has sent /stop meanwhile
		return err
	}
	if r.Since.IsZero() { // it is open: what ended for it did so long ago, for other reasons
		r.spared = true
		return o.save(tx, r)
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'pending', reason = NULL, ended_at = NULL, sent_to = NULL
		WHERE channel = ?1 AND state = 'dead' AND reason IN ('chat_dead', 'chat_not_found', 'no_rights')
		AND blanked_at IS NULL AND ended_at >= ?2 AND (recipient = ?3 OR recipient IN
			(SELECT address FROM notifier_recipients WHERE channel = ?1 AND alias_of = ?3))`,
		o.channel, r.Since.UnixMilli(), address)
	if err != nil {
		return fmt.Errorf("take back the messages of %s: %w", address, err)
	}
	r.State, r.Reason, r.Detail, r.Since, r.spared = RecipientOpen, "", "", time.Time{}, true
	r.doubtStep, r.doubtUntil, r.doubtWait = 0, time.Time{}, 0
	return o.save(tx, r)
}

// endWaiting ends all pending messages of an address and of its aliases. One that is being sent
// is left to its own verdict, and answers do not end because their recipient asked us to stop.
func (o *Outbox) endWaiting(tx database.Tx, now time.Time, address string, s State, reason, detail string) error {
	_, err := tx.Exec(`UPDATE outbox SET state = ?, reason = ?, detail = coalesce(?, detail), ended_at = ?,
			retry_at = NULL, retry_wait = NULL
		WHERE channel = ? AND state = 'pending' AND (recipient = ? OR recipient IN
			(SELECT address FROM notifier_recipients WHERE channel = ? AND alias_of = ?))
			AND (? <> 'stopped' OR `+notAnswer+`)`,
		s, reason, orNull(detail), now.UnixMilli(), o.channel, address, o.channel, address, reason)
	if err != nil {
		return fmt.Errorf("end the messages of %s: %w", address, err)
	}
	return nil
}

// touch marks a recipient as changed by somebody other than the dispatcher, which looks for
// marks above the last one it saw.
func (o *Outbox) touch(tx database.Tx, address string) error {
	mark, err := o.nextMark(tx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO notifier_recipients (channel, address, mark) VALUES (?, ?, ?)
		ON CONFLICT (channel, address) DO UPDATE SET mark = excluded.mark`, o.channel, address, mark)
	if err != nil {
		return fmt.Errorf("mark recipient %s: %w", address, err)
	}
	return nil
}

func (o *Outbox) nextMark(tx database.Tx) (int64, error) {
	var mark int64
	err := tx.QueryRow(`INSERT INTO notifier_senders (channel, mark) VALUES (?, 1)
		ON CONFLICT (channel) DO UPDATE SET mark = mark + 1 RETURNING mark`, o.channel).Scan(&mark)
	if err != nil {
		return 0, fmt.Errorf("count a change: %w", err)
	}
	return mark, nil
}
