package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"notifier/internal/database"
)

// AnswerPrefix begins the subject of a message that answers what its recipient has just written.
// Such a message goes out although the recipient has asked us to stop; in all else it is a message
// like any other.
const AnswerPrefix = "answer:"

// notAnswer is the condition in SQL for all other messages.
const notAnswer = `substr(coalesce(subject, ''), 1, 7) <> 'answer:'`

// NewAnswer is what Answer stores.
type NewAnswer struct {
	Address string
	// Kind is what is answered. Of the answers of one kind to one recipient only the newest waits.
	Kind    string
	Type    string
	Payload any // marshals to a JSON object
	// Every: none when one of this kind was stored less than so long ago; 0: always.
	Every time.Duration
}

// Answer stores the answer to what a recipient has just written, in the transaction that also
// stores that it was read. An older one of the same kind that still waits ends as superseded: who
// asks ten times gets one answer, the latest.
func (o *Outbox) Answer(tx database.Tx, now time.Time, a NewAnswer) error {
	root, err := o.Resolve(tx, a.Address)
	if err != nil {
		return fmt.Errorf("answer %s: %w", a.Address, err)
	}
	subject := AnswerPrefix + a.Kind + ":" + root
	if a.Every > 0 {
		recent, err := o.answeredSince(tx, subject, now, a.Every)
		if recent || err != nil {
			return err
		}
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'canceled', reason = 'superseded', ended_at = ?,
			retry_at = NULL, retry_wait = NULL
		WHERE subject = ? AND channel = ? AND state = 'pending'`, now.UnixMilli(), subject, o.channel)
	if err != nil {
		return fmt.Errorf("answer %s: supersede the one before: %w", root, err)
	}
	_, err = o.Enqueue(tx, now, NewMessage{Recipient: root, Type: a.Type, Payload: a.Payload, Subject: subject})
	return err
}

// answeredSince says whether there was such an answer within a time before now. One from the
// future is left over from a clock that was wrong.
func (o *Outbox) answeredSince(tx database.Tx, subject string, now time.Time, within time.Duration) (bool, error) {
	var created int64
	err := tx.QueryRow(`SELECT created_at FROM outbox WHERE subject = ? AND channel = ? ORDER BY id DESC LIMIT 1`,
		subject, o.channel).Scan(&created)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the last answer: %w", err)
	}
	age := now.Sub(time.UnixMilli(created))
	return age >= 0 && age < within, nil
}

// hears says whether a message with this subject can go to the recipient as it stands.
func (r Recipient) hears(subject string) bool {
	return r.State != RecipientDead || r.Reason == RecipientStopped && strings.HasPrefix(subject, AnswerPrefix)
}
