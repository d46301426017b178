package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Retry puts a message that ended without success back on its way, with a fresh count of
// attempts and a fresh age. One that is on its way already is left alone. force sends it although
// a later message of the same subject was sent, or its expiry has passed.
func (o *Outbox) Retry(tx database.Tx, now time.Time, id int64, force bool) (Message, error) {
	m, err := o.Message(tx, id)
	if err != nil {
		return m, err
	}
	if m.State == StatePending || m.State == StateSending {
		return m, nil
	}
	root, err := o.refuseRetry(tx, now, m, force)
	if err != nil {
		return m, err
	}
	if err := o.retry(tx, now, m, root); err != nil {
		return m, err
	}
	return o.Message(tx, id)
}

// retry puts an ended message back in line, which refuseRetry has allowed.
func (o *Outbox) retry(tx database.Tx, now time.Time, m Message, root string) error {
	expires := m.ExpiresAt
	if !expires.After(now) {
		expires = time.Time{}
	}
	return o.resume(tx, now, m, root, `, failures = 0, doubts = 0, plain = 0, age_from = ?, expires_at = ?`,
		latest(now, m.NotBefore).UnixMilli(), millis(expires))
}

// refuseRetry is why an ended message may not be sent again, if anything; else root is where it goes.
func (o *Outbox) refuseRetry(tx database.Tx, now time.Time, m Message, force bool) (root string, err error) {
	if m.State == StateSent {
		return "", &ConflictError{ConflictState, fmt.Sprintf("message %d was sent; send a new one instead", m.ID)}
	}
	if m.Erased {
		return "", &ConflictError{ConflictBlanked, fmt.Sprintf("the content of message %d was erased by retention; send a new one instead", m.ID)}
	}
	r, err := o.Recipient(tx, m.Recipient)
	if err != nil {
		return "", err
	}
	if r.State == RecipientDead {
		return "", &ConflictError{ConflictChatDead, fmt.Sprintf(
			"chat %s is dead (%s): the customer must write to the bot, or revive the chat first", r.Address, r.Reason)}
	}
	if force {
		return r.Address, nil
	}
	if !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(now) {
		return "", &ConflictError{ConflictExpired, fmt.Sprintf(
			"message %d was to be sent by %s; retry with force to send it all the same", m.ID, m.ExpiresAt.Format(time.RFC3339))}
	}
	var later int64
	err = tx.QueryRow(`SELECT id FROM outbox WHERE subject = ? AND id > ? AND channel = ? AND recipient = ?
		AND state = 'sent' ORDER BY id LIMIT 1`, orNull(m.Subject), m.ID, o.channel, m.Recipient).Scan(&later)
	if errors.Is(err, sql.ErrNoRows) {
		return r.Address, nil
	}
	if err != nil {
		return "", fmt.Errorf("look for later messages than %d: %w", m.ID, err)
	}
	return "", &ConflictError{ConflictOvertaken, fmt.Sprintf(
		"message %d came later and was sent; retry with force to send this one after it", later)}
}

// Cancel ends a message that has not been sent. Whether a call that is under way can still be
// stopped nobody knows, so it is refused then.
func (o *Outbox) Cancel(tx database.Tx, now time.Time, id int64) (Message, error) {
	m, err := o.Message(tx, id)
	if err != nil {
		return m, err
	}
	switch m.State {
	case StateCanceled:
		return m, nil
	case StateSending:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d is being sent at this moment: try again", id)}
	case StateSent, StateDead:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d has ended (%s)", id, m.State)}
	}
	if err := o.takeInFirst(tx, now, &m); err != nil {
		return m, err
	}
	if err := o.finish(tx, m, ending{StateCanceled, ReasonCanceled, "", now}); err != nil {
		return m, err
	}
	return o.Message(tx, id)
}

// SendNow lets a message forget the time it was planned for and its back-off. Gates and pauses hold
// all the same, and so does the wait of a message that the channel may have taken.
func (o *Outbox) SendNow(tx database.Tx, now time.Time, id int64) (Message, error) {
	m, err := o.Message(tx, id)
	if err != nil {
		return m, err
	}
	switch m.State {
	case StateSending:
		return m, nil
	case StatePending:
	default:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d has ended (%s): retry it instead", id, m.State)}
	}
	if m.Doubts > 0 {
		return m, &ConflictError{ConflictUncertain, fmt.Sprintf("%s may have message %d already: it is sent once more "+
			"when %s has shown that it works, no sooner than %s", o.title(), id, o.title(), m.readyAt.Format(time.RFC3339))}
	}
	if err := o.takeInFirst(tx, now, &m); err != nil {
		return m, err
	}
	hold := m.hold
	if hold == holdPlanned {
		hold = holdNone
	}
	_, err = tx.Exec(`UPDATE outbox SET not_before = NULL, hold = ?, ready_at = ?, ready_wait = 0 WHERE id = ?`,
		hold, now.UnixMilli(), id)
	if err != nil {
		return m, fmt.Errorf("send message %d now: %w", id, err)
	}
	o.touch(tx, m.line)
	return o.Message(tx, id)
}

// takeInFirst takes in a row that another program has just inserted, before something is done with it.
func (o *Outbox) takeInFirst(tx database.Tx, now time.Time, m *Message) error {
	if m.line != "" {
		return nil
	}
	if err := o.takeInOne(tx, now, m.ID); err != nil {
		return err
	}
	taken, err := o.Message(tx, m.ID)
	*m = taken
	return err
}

// ending is how a message ends, and when.
type ending struct {
	state  State
	reason string
	detail string // empty: what it had
	at     time.Time
}

// finish ends a message that waits. What the channel may have never ends as dead or canceled, which
// would claim that nobody got it, unless a person has canceled it.
func (o *Outbox) finish(tx database.Tx, m Message, e ending) error {
	if m.Doubts > 0 && e.reason != ReasonCanceled && e.reason != ReasonRejected && e.reason != ReasonTemplateError {
		e.state, e.reason = StateUncertain, ""
	}
	_, err := tx.Exec(`UPDATE outbox SET state = ?, reason = ?, detail = coalesce(?, detail), ended_at = ?, ready_wait = 0
		WHERE id = ?`, e.state, orNull(e.reason), orNull(e.detail), e.at.UnixMilli(), m.ID)
	if err != nil {
		return fmt.Errorf("end message %d: %w", m.ID, err)
	}
	o.countMove(tx, m, e.state, e.reason)
	o.touch(tx, m.line)
	return nil
}

// resume puts an ended message back in the line of its recipient, whose address may be another by now.
// For a recipient that is dead it stays as it is; one that was being sent ends.
func (o *Outbox) resume(tx database.Tx, now time.Time, m Message, root string, set string, args ...any) error {
	r, err := o.Recipient(tx, root)
	if err != nil {
		return err
	}
	if !r.hears(m.rank) {
		if m.State == StateSending {
			state, reason := r.fate()
			return o.finish(tx, m, ending{state, reason, "", now})
		}
		return nil
	}
	hold, ready := holdNone, now
	switch {
	case addressOf(root, "") == "":
		hold = holdNoChat
	case m.NotBefore.After(now):
		hold, ready = holdPlanned, m.NotBefore
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'pending', reason = NULL, ended_at = NULL, address = ?, hold = ?,
		ready_at = ?, ready_wait = 0`+set+` WHERE id = ?`,
		append(append([]any{root, hold, ready.UnixMilli()}, args...), m.ID)...)
	if err != nil {
		return fmt.Errorf("put message %d back in line: %w", m.ID, err)
	}
	o.countMove(tx, m, StatePending, "")
	o.touch(tx, m.line, root)
	return nil
}
