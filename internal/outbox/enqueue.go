package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Enqueue stores a message in the caller's transaction: it exists if and only if that commits.
// A message for a dead recipient is stored as dead at once. When the key is known already, the
// message that has it is returned and nothing is stored.
func (o *Outbox) Enqueue(tx database.Tx, now time.Time, m NewMessage) (Message, error) {
	payload, err := json.Marshal(m.Payload)
	if err != nil {
		return Message{}, fmt.Errorf("enqueue a message: marshal its payload: %w", err)
	}
	address, err := o.Resolve(tx, m.Recipient)
	if err != nil {
		return Message{}, fmt.Errorf("enqueue a message: %w", err)
	}
	state, reason, ended := Pending, "", time.Time{}
	if address != "" {
		r, err := o.Recipient(tx, address)
		if err != nil {
			return Message{}, fmt.Errorf("enqueue a message: %w", err)
		}
		if !r.hears(m.Subject) {
			state, reason = r.fate()
			ended = now
		}
	}
	var id int64
	err = tx.QueryRow(`INSERT INTO outbox (idempotency_key, recipient, type, payload, channel, subject,
			collapse_key, not_before, expires_at, on_uncertain, created_at, state, reason, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (idempotency_key) DO UPDATE SET idempotency_key = excluded.idempotency_key
		RETURNING id`,
		orNull(m.Key), m.Recipient, m.Type, string(payload), o.channel, orNull(m.Subject),
		orNull(m.CollapseKey), millis(m.NotBefore), millis(m.ExpiresAt), orNull(m.OnUncertain),
		now.UnixMilli(), state, orNull(reason), millis(ended)).Scan(&id)
	if err != nil {
		return Message{}, fmt.Errorf("enqueue a message: %w", err)
	}
	return o.Message(tx, id)
}

// Link makes alias (customer:<id>, or an address that has moved) stand for target, in place of
// whatever it stood for before. Messages that waited for the link go out, the newest of each
// collapse key alone: the older ones end as superseded. Their age counts from now.
func (o *Outbox) Link(tx database.Tx, now time.Time, alias, target string) error {
	before, err := o.Resolve(tx, alias)
	if err != nil {
		return fmt.Errorf("link %s: %w", alias, err)
	}
	root, err := o.Resolve(tx, target)
	if err != nil {
		return fmt.Errorf("link %s: %w", alias, err)
	}
	if root == "" || root == alias {
		return &ConflictError{ConflictAliasCycle, "an alias needs an address of its own to stand for"}
	}
	if before == root {
		return nil
	}
	if before == "" {
		if err := o.supersede(tx, now, alias); err != nil {
			return fmt.Errorf("link %s: %w", alias, err)
		}
	}
	if err := o.pointTo(tx, alias, root); err != nil {
		return fmt.Errorf("link %s: %w", alias, err)
	}
	r, err := o.Recipient(tx, root)
	if err != nil {
		return err
	}
	if r.State == RecipientDead {
		state, reason := r.fate()
		return o.endWaiting(tx, now, root, state, reason, "")
	}
	return nil
}

// pointTo writes the alias, and keeps the rule that an alias never stands for another alias.
func (o *Outbox) pointTo(tx database.Tx, alias, root string) error {
	if _, err := tx.Exec(`UPDATE notifier_recipients SET alias_of = ? WHERE channel = ? AND alias_of = ?`,
		root, o.channel, alias); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO notifier_recipients (channel, address, alias_of) VALUES (?, ?, ?)
		ON CONFLICT (channel, address) DO UPDATE SET alias_of = excluded.alias_of`,
		o.channel, alias, root); err != nil {
		return err
	}
	return errors.Join(o.touch(tx, alias), o.touch(tx, root))
}

// supersede ends the older ones of the messages that waited for a link and lets the age of the
// others begin now.
func (o *Outbox) supersede(tx database.Tx, now time.Time, alias string) error {
	_, err := tx.Exec(`UPDATE outbox SET state = 'canceled', reason = 'superseded', ended_at = ?
		WHERE channel = ? AND recipient = ? AND state = 'pending' AND collapse_key IS NOT NULL
		AND EXISTS (SELECT 1 FROM outbox later WHERE later.channel = outbox.channel
			AND later.recipient = outbox.recipient AND later.state = 'pending'
			AND later.collapse_key = outbox.collapse_key AND later.id > outbox.id)`,
		now.UnixMilli(), o.channel, alias)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE outbox SET age_from = ? WHERE channel = ? AND recipient = ? AND state = 'pending'`,
		now.UnixMilli(), o.channel, alias)
	return err
}
