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
	switch m.State {
	case Pending, Sending:
		return m, nil
	case Sent:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d was sent; send a new one instead", id)}
	}
	if m.Erased {
		return m, &ConflictError{ConflictBlanked, fmt.Sprintf("the content of message %d was erased by retention; send a new one instead", id)}
	}
	if err := o.refuseRetry(tx, now, m, force); err != nil {
		return m, err
	}
	expires := m.ExpiresAt
	if !expires.After(now) {
		expires = time.Time{}
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'pending', reason = NULL, ended_at = NULL, failures = 0,
			doubts = 0, plain = 0, retry_at = NULL, retry_wait = NULL, sent_to = NULL,
			age_from = ?, expires_at = ? WHERE id = ?`, now.UnixMilli(), millis(expires), id)
	if err != nil {
		return m, fmt.Errorf("retry message %d: %w", id, err)
	}
	if err := o.touchRecipientOf(tx, m); err != nil {
		return m, err
	}
	return o.Message(tx, id)
}

// refuseRetry is why an ended message may not be sent again, if anything.
func (o *Outbox) refuseRetry(tx database.Tx, now time.Time, m Message, force bool) error {
	r, err := o.Recipient(tx, m.Recipient)
	if err != nil {
		return err
	}
	if r.State == RecipientDead {
		return &ConflictError{ConflictChatDead, fmt.Sprintf(
			"chat %s is dead (%s): the customer must write to the bot, or revive the chat first", r.Address, r.Reason)}
	}
	if force {
		return nil
	}
	if !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(now) {
		return &ConflictError{ConflictExpired, fmt.Sprintf(
			"message %d was to be sent by %s; retry with force to send it all the same", m.ID, m.ExpiresAt.Format(time.RFC3339))}
	}
	var later int64
	err = tx.QueryRow(`SELECT id FROM outbox WHERE subject = ? AND id > ? AND channel = ? AND recipient = ?
		AND state = 'sent' ORDER BY id LIMIT 1`, orNull(m.Subject), m.ID, o.channel, m.Recipient).Scan(&later)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for later messages than %d: %w", m.ID, err)
	}
	return &ConflictError{ConflictOvertaken, fmt.Sprintf(
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
	case Canceled:
		return m, nil
	case Sending:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d is being sent at this moment: try again", id)}
	case Sent, Dead:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d has ended (%s)", id, m.State)}
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'canceled', reason = 'canceled', ended_at = ?,
		retry_at = NULL, retry_wait = NULL WHERE id = ?`, now.UnixMilli(), id)
	if err != nil {
		return m, fmt.Errorf("cancel message %d: %w", id, err)
	}
	if err := o.touchRecipientOf(tx, m); err != nil {
		return m, err
	}
	return o.Message(tx, id)
}

// SendNow lets a message forget the time it was planned for and its back-off. Gates, pauses, and
// the rules of a message that the channel may have taken, hold all the same.
func (o *Outbox) SendNow(tx database.Tx, _ time.Time, id int64) (Message, error) {
	m, err := o.Message(tx, id)
	if err != nil {
		return m, err
	}
	switch m.State {
	case Sending:
		return m, nil
	case Pending:
	default:
		return m, &ConflictError{ConflictState, fmt.Sprintf("message %d has ended (%s): retry it instead", id, m.State)}
	}
	_, err = tx.Exec(`UPDATE outbox SET not_before = NULL, retry_at = NULL, retry_wait = NULL WHERE id = ?`, id)
	if err != nil {
		return m, fmt.Errorf("send message %d now: %w", id, err)
	}
	if err := o.touchRecipientOf(tx, m); err != nil {
		return m, err
	}
	return o.Message(tx, id)
}

// touchRecipientOf lets the dispatcher look again at the queue a message stands in.
func (o *Outbox) touchRecipientOf(tx database.Tx, m Message) error {
	address, err := o.Resolve(tx, m.Recipient)
	if err != nil {
		return err
	}
	if address == "" {
		address = m.Recipient
	}
	return o.touch(tx, address)
}
