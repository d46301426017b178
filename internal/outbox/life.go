package outbox

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// What a recipient does is told here by whoever listens to the channel: that it is there, that it
// has left, that it wants no more messages.

// Sign is a sign of life of a recipient.
type Sign struct {
	// At is when it was given, by the channel's clock; zero when that is not known.
	At time.Time
	// Resumes: it asks for messages again, after it had asked us to stop.
	Resumes bool
	// Writable: it shows that we may write there, and not only that somebody is there.
	Writable bool
}

// SignOfLife raises the epoch of a recipient, so that refusals of calls that began before say
// nothing about it, and opens it again when it was dead, or when it was doubtful and the sign shows
// that it can be written to. One that asked us to stop is opened only by a sign that resumes.
func (o *Outbox) SignOfLife(tx database.Tx, now time.Time, address string, s Sign) error {
	r, err := o.Recipient(tx, address)
	if err != nil {
		return fmt.Errorf("note a sign of life of %s: %w", address, err)
	}
	if err := o.raiseEpoch(tx, r.Address, dated(s.At, now)); err != nil {
		return err
	}
	switch {
	case r.State == RecipientOpen,
		r.State == RecipientDoubtful && !s.Writable,
		r.State == RecipientDead && r.Reason == RecipientStopped && !s.Resumes:
		return nil
	}
	return o.turn(tx, r, RecipientOpen, "", "", time.Time{})
}

// raiseEpoch makes the epoch at least the time of the sign, in milliseconds, and always higher than
// before. So it also remembers the newest sign; see overtaken.
func (o *Outbox) raiseEpoch(tx database.Tx, address string, at time.Time) error {
	var ms int64 = 1
	if !at.IsZero() {
		ms = at.UnixMilli()
	}
	_, err := tx.Exec(`INSERT INTO notifier_recipients (channel, address, epoch) VALUES (?, ?, ?)
		ON CONFLICT (channel, address) DO UPDATE SET epoch = max(notifier_recipients.epoch + 1, excluded.epoch)`,
		o.channel, address, ms)
	if err != nil {
		return fmt.Errorf("raise the epoch of %s: %w", address, err)
	}
	return nil
}

// Leave makes a recipient dead that has told the channel so at an instant of the channel's clock,
// with everything that waits for it. It changes nothing when the recipient has shown life since:
// such news may arrive out of order. One that asked us to stop keeps that reason.
func (o *Outbox) Leave(tx database.Tx, now time.Time, address string, at time.Time, reason, detail string) error {
	r, err := o.Recipient(tx, address)
	if err != nil {
		return fmt.Errorf("note that %s has left: %w", address, err)
	}
	if overtaken(r, dated(at, now)) || r.State == RecipientDead && r.Reason == RecipientStopped {
		return nil
	}
	since := now
	if r.State == RecipientDead {
		since = r.Since
	}
	if err := o.turn(tx, r, RecipientDead, reason, detail, since); err != nil {
		return err
	}
	return o.endWaiting(tx, now, r.Address, Dead, ReasonChatDead, detail)
}

// Stop makes a recipient dead that wants no more messages. What waits for it is canceled, and so
// is what comes later, answers aside, until a sign of life that resumes.
func (o *Outbox) Stop(tx database.Tx, now time.Time, address string) error {
	r, err := o.Recipient(tx, address)
	if err != nil {
		return fmt.Errorf("stop %s: %w", address, err)
	}
	if r.State == RecipientDead && r.Reason == RecipientStopped {
		return nil
	}
	if err := o.turn(tx, r, RecipientDead, RecipientStopped, "", now); err != nil {
		return err
	}
	return o.endWaiting(tx, now, r.Address, Canceled, ReasonStopped, "")
}

// turn gives a recipient another state. Old doubts go with the old one.
func (o *Outbox) turn(tx database.Tx, r Recipient, s RecipientState, reason, detail string, since time.Time) error {
	r.State, r.Reason, r.Detail, r.Since = s, reason, detail, since
	r.doubtStep, r.doubtUntil, r.doubtWait = 0, time.Time{}, 0
	if err := o.save(tx, r); err != nil {
		return err
	}
	return o.touch(tx, r.Address)
}

// farAhead is how far the channel's clock may be ahead of ours before its time is not believed.
const farAhead = 24 * time.Hour

// dated is a time of the channel's, or ours where it gives none or one that cannot be.
func dated(at, now time.Time) time.Time {
	if at.After(now.Add(farAhead)) {
		return now
	}
	return at
}

// overtaken says that the recipient has shown life after this instant. The channel's times are
// whole seconds: within one, the order of arrival counts.
func overtaken(r Recipient, at time.Time) bool {
	return !at.IsZero() && at.Unix() < r.epoch/1000
}

// Move makes an address an alias of the one that it has become. It changes nothing when the two
// are one already, or when the new one is known as an alias of the old one.
func (o *Outbox) Move(tx database.Tx, now time.Time, from, to string) error {
	root, err := o.Resolve(tx, to)
	if err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	if root == "" || root == from {
		return nil
	}
	return o.Link(tx, now, from, root)
}

// maxAliases is how many aliases of one address are listed.
const maxAliases = 50

// Aliases are the customer:<id> that stand for an address at present, by their text, 50 at most.
func (o *Outbox) Aliases(tx database.Tx, address string) ([]string, error) {
	root, err := o.Resolve(tx, address)
	if err != nil {
		return nil, err
	}
	var list []string
	err = each(tx, func(row database.Row) error {
		var alias string
		err := row.Scan(&alias)
		list = append(list, alias)
		return err
	}, `SELECT address FROM notifier_recipients WHERE channel = ? AND alias_of = ?
		AND substr(address, 1, 9) = 'customer:' ORDER BY address LIMIT ?`, o.channel, root, maxAliases)
	if err != nil {
		return nil, fmt.Errorf("list the aliases of %s: %w", root, err)
	}
	return list, nil
}
