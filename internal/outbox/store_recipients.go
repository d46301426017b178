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
	root, err := o.root(tx, recipient)
	if err != nil || root != recipient {
		return root, err
	}
	return addressOf(recipient, ""), nil
}

const recipientColumns = `address, alias_of, state, reason, detail, since, gate_until, gate_wait, flood_step,
	doubt_step, doubt_until, doubt_wait, pace_until, pace_wait, epoch, accepted_by, spared, turn_at, turn_rank, head`

// Recipient returns what is remembered of an address, or of what it is an alias of. One that was
// never heard of is open.
func (o *Outbox) Recipient(tx database.Tx, address string) (Recipient, error) {
	r, err := o.row(tx, address)
	if err == nil && r.aliasOf != "" { // an alias never stands for another alias
		return o.row(tx, r.aliasOf)
	}
	return r, err
}

// row returns what is remembered under this very address.
func (o *Outbox) row(tx database.Tx, address string) (Recipient, error) {
	r, err := scanRecipient(tx.QueryRow(`SELECT `+recipientColumns+` FROM notifier_recipients
		WHERE channel = ? AND address = ?`, o.channel, address))
	if errors.Is(err, sql.ErrNoRows) {
		return Recipient{Address: address, State: RecipientOpen}, nil
	}
	return r, err
}

// Recipients lists addresses in one state (all of them that are remembered, if empty), in the
// order of their text, after the one given. Customers are none: what is remembered of them is at most
// for which address each stands, and there is a row for nearly every one.
func (o *Outbox) Recipients(tx database.Tx, state RecipientState, after string, limit int) ([]Recipient, error) {
	var list []Recipient
	for _, within := range []struct{ after, before string }{{"", AliasPrefix}, {afterAliases, ""}} {
		if within.before != "" && after >= within.before {
			continue
		}
		page, err := o.recipientsBetween(tx, state, max(after, within.after), within.before, limit-len(list))
		if err != nil {
			return nil, fmt.Errorf("list recipients: %w", err)
		}
		if list = append(list, page...); len(list) == limit {
			break
		}
	}
	return list, nil
}

func (o *Outbox) recipientsBetween(tx database.Tx, state RecipientState, after, before string, limit int) ([]Recipient, error) {
	query := `SELECT ` + recipientColumns + ` FROM notifier_recipients
		WHERE channel = ?1 AND alias_of IS NULL AND address > ?2`
	args := []any{o.channel, after, limit, string(state)}
	if before != "" {
		query += ` AND address < ?5`
		args = append(args, before)
	}
	switch state {
	case RecipientDoubtful, RecipientDead: // the words of the partial index
		query += ` AND state = ?4 AND state IN ('doubtful', 'dead')`
	case RecipientOpen:
		query += ` AND state = ?4`
	default:
		query += ` AND ?4 = ''`
	}
	var list []Recipient
	err := each(tx, func(row database.Row) error {
		r, err := scanRecipient(row)
		list = append(list, r)
		return err
	}, query+` ORDER BY address LIMIT ?3`, args...)
	return list, err
}

func scanRecipient(row database.Row) (Recipient, error) {
	var r Recipient
	var alias, reason, detail, accepted sql.NullString
	var since, gateUntil, doubtUntil, paceUntil, at, rank, head sql.NullInt64
	var gateWait, doubtWait, paceWait int64
	err := row.Scan(&r.Address, &alias, &r.State, &reason, &detail, &since, &gateUntil, &gateWait, &r.floodStep,
		&r.doubtStep, &doubtUntil, &doubtWait, &paceUntil, &paceWait, &r.epoch, &accepted, &r.spared, &at, &rank, &head)
	if err != nil {
		return r, fmt.Errorf("read a recipient: %w", err)
	}
	r.Reason, r.Detail, r.Since, r.acceptedBy = reason.String, detail.String, instant(since), accepted.String
	r.GateUntil, r.gateWait = instant(gateUntil), time.Duration(gateWait)*time.Millisecond
	r.doubtUntil, r.doubtWait = instant(doubtUntil), time.Duration(doubtWait)*time.Millisecond
	r.paceUntil, r.paceWait = instant(paceUntil), time.Duration(paceWait)*time.Millisecond
	if at.Valid {
		r.turn = turn{head: head.Int64, rank: int(rank.Int64), at: instant(at)}
	}
	r.aliasOf, r.stored = alias.String, r.State
	return r, nil
}

// fate is how messages end that can only go to this dead recipient.
func (r Recipient) fate() (State, string) {
	if r.Reason == RecipientStopped {
		return StateCanceled, ReasonStopped
	}
	return StateDead, ReasonChatDead
}

// hears says whether a message of this rank can go to the recipient as it stands: one that asked us
// to stop still gets replies to what it writes.
func (r Recipient) hears(rank int) bool {
	return r.State != RecipientDead || r.Reason == RecipientStopped && rank == rankReply
}

// open makes r open again: no doubt is left.
func (r *Recipient) open() {
	r.State, r.Reason, r.Detail, r.Since = RecipientOpen, "", "", time.Time{}
	r.doubtStep, r.doubtUntil, r.doubtWait = 0, time.Time{}, 0
}

// save writes what the rules change of a recipient.
func (o *Outbox) save(tx database.Tx, r Recipient) error {
	_, err := tx.Exec(`INSERT INTO notifier_recipients (channel, address, state, reason, detail, since,
			gate_until, gate_wait, flood_step, doubt_step, doubt_until, doubt_wait, pace_until, pace_wait,
			epoch, accepted_by, spared)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (channel, address) DO UPDATE SET state = excluded.state, reason = excluded.reason,
			detail = excluded.detail, since = excluded.since, gate_until = excluded.gate_until,
			gate_wait = excluded.gate_wait, flood_step = excluded.flood_step,
			doubt_step = excluded.doubt_step, doubt_until = excluded.doubt_until,
			doubt_wait = excluded.doubt_wait, pace_until = excluded.pace_until, pace_wait = excluded.pace_wait,
			epoch = excluded.epoch, accepted_by = excluded.accepted_by, spared = excluded.spared`,
		o.channel, r.Address, r.State, orNull(r.Reason), orNull(r.Detail), millis(r.Since),
		millis(r.GateUntil), r.gateWait.Milliseconds(), r.floodStep, r.doubtStep,
		millis(r.doubtUntil), r.doubtWait.Milliseconds(), millis(r.paceUntil), r.paceWait.Milliseconds(),
		r.epoch, orNull(r.acceptedBy), r.spared)
	if err != nil {
		return fmt.Errorf("save recipient %s: %w", r.Address, err)
	}
	if r.stored != r.State {
		if r.stored != "" {
			o.count(tx, chatCount(r.stored), -1)
		}
		o.count(tx, chatCount(r.State), 1)
	}
	o.touch(tx, r.Address)
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
	r.open()
	r.epoch++
	return r, o.save(tx, r)
}

// ReleaseGate lifts the gate of a recipient, if it has one.
func (o *Outbox) ReleaseGate(tx database.Tx, _ time.Time, address string) (Recipient, error) {
	r, err := o.Recipient(tx, address)
	if err != nil || r.GateUntil.IsZero() {
		return r, err
	}
	r.GateUntil, r.gateWait = time.Time{}, 0
	return r, o.save(tx, r)
}

// takeBack opens an address that the guard takes back, and puts the messages on their way again
// that ended because it was dead or doubtful.
func (o *Outbox) takeBack(tx database.Tx, now time.Time, address string) error {
	r, err := o.Recipient(tx, address)
	if err != nil || r.Reason == RecipientStopped { // it has sent /stop meanwhile
		return err
	}
	since := r.Since
	r.open()
	r.spared = true
	if err := o.save(tx, r); err != nil {
		return err
	}
	if since.IsZero() { // it was open: what ended for it did so long ago, for other reasons
		return nil
	}
	if _, err := tx.Exec(`DELETE FROM notifier_tasks WHERE channel = ? AND address = ? AND kind = 'end'`,
		o.channel, r.Address); err != nil {
		return fmt.Errorf("take back %s: %w", r.Address, err)
	}
	return o.begin(tx, now, task{kind: taskRestore, address: r.Address, since: since})
}

// endWaiting ends all messages that wait for an address. One that is being sent is left to its own
// verdict, and replies do not end because their recipient asked us to stop.
func (o *Outbox) endWaiting(tx database.Tx, now time.Time, address string, s State, reason, detail string) error {
	last, err := o.lastID(tx)
	if err != nil {
		return err
	}
	return o.begin(tx, now, task{kind: taskEnd, address: address, state: string(s), reason: reason, detail: detail, since: now, upto: last})
}

// lastID is the largest id of a message.
func (o *Outbox) lastID(tx database.Tx) (int64, error) {
	var last int64
	if err := tx.QueryRow(`SELECT coalesce(max(id), 0) FROM outbox`).Scan(&last); err != nil {
		return 0, fmt.Errorf("find the newest message: %w", err)
	}
	return last, nil
}
