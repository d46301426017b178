package outbox

import (
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// AnswerPrefix begins the subject of a reply to what its recipient has just written. Replies have a
// rank of their own: they go before other messages, and also to a recipient that has asked us to
// stop. In all else they are messages like any other.
const AnswerPrefix = "answer:"

// NewAnswer is what Answer stores.
type NewAnswer struct {
	Address string
	// Kind is what is answered. Of the replies of one kind to one recipient only the newest waits.
	Kind    string
	Type    string
	Payload any // marshals to a JSON object
	// Every: none when one of this kind was stored less than so long ago; 0: always.
	Every time.Duration
}

// Answer stores the reply to what a recipient has just written, in the transaction that also
// stores that it was read. An older one of the same kind that still waits ends as superseded: who
// asks ten times gets one reply, the latest.
func (o *Outbox) Answer(tx database.Tx, now time.Time, a NewAnswer) error {
	root, err := o.root(tx, a.Address)
	if err != nil {
		return fmt.Errorf("reply to %s: %w", a.Address, err)
	}
	subject := AnswerPrefix + a.Kind + ":" + root
	before, err := o.lastReply(tx, subject)
	found := !errors.Is(err, ErrNotFound)
	if err != nil && found {
		return err
	}
	if found {
		age := now.Sub(before.CreatedAt) // negative: left over from a clock that was wrong
		if a.Every > 0 && age >= 0 && age < a.Every {
			return nil
		}
		if before.State == Pending {
			if err := o.finish(tx, before, ending{Canceled, ReasonSuperseded, "", now}); err != nil {
				return err
			}
		}
	}
	_, err = o.enqueue(tx, now, NewMessage{Recipient: root, Type: a.Type, Payload: a.Payload, Subject: subject}, rankReply)
	return err
}

// lastReply is the newest reply with a subject.
func (o *Outbox) lastReply(tx database.Tx, subject string) (Message, error) {
	m, err := scanMessage(tx.QueryRow(`SELECT `+columns+` FROM outbox WHERE channel = ? AND subject = ?
		ORDER BY id DESC LIMIT 1`, o.channel, subject))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return m, fmt.Errorf("look for the last reply: %w", err)
	}
	return m, err
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
		e.state, e.reason = Unsure, ""
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
func (o *Outbox) resume(tx database.Tx, now time.Time, m Message, root string, set string, args ...any) error {
	hold, ready := holdNone, now
	switch {
	case addressOf(root, "") == "":
		hold = holdNoChat
	case m.NotBefore.After(now):
		hold, ready = holdPlanned, m.NotBefore
	}
	_, err := tx.Exec(`UPDATE outbox SET state = 'pending', reason = NULL, ended_at = NULL, address = ?, hold = ?,
		ready_at = ?, ready_wait = 0`+set+` WHERE id = ?`,
		append(append([]any{root, hold, ready.UnixMilli()}, args...), m.ID)...)
	if err != nil {
		return fmt.Errorf("put message %d back in line: %w", m.ID, err)
	}
	o.countMove(tx, m, Pending, "")
	o.touch(tx, m.line, root)
	return nil
}
