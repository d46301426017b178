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
	r.raiseEpoch(dated(s.At, now))
	switch {
	case r.State == RecipientOpen,
		r.State == RecipientDoubtful && !s.Writable,
		r.State == RecipientDead && r.Reason == RecipientStopped && !s.Resumes:
	default:
		r.open()
	}
	return o.save(tx, r)
}

// raiseEpoch makes the epoch at least the time of the sign, in milliseconds, and always higher than
// before. So it also remembers the newest sign; see overtaken.
func (r *Recipient) raiseEpoch(at time.Time) {
	r.epoch++
	if !at.IsZero() {
		r.epoch = max(r.epoch, at.UnixMilli())
	}
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
	return o.die(tx, now, r, reason, detail, since)
}

// Stop makes a recipient dead that wants no more messages. What waits for it is canceled, and so
// is what comes later, replies aside, until a sign of life that resumes.
func (o *Outbox) Stop(tx database.Tx, now time.Time, address string) error {
	r, err := o.Recipient(tx, address)
	if err != nil {
		return fmt.Errorf("stop %s: %w", address, err)
	}
	if r.State == RecipientDead && r.Reason == RecipientStopped {
		return nil
	}
	return o.die(tx, now, r, RecipientStopped, "", now)
}

// die makes a recipient dead, with what waits for it. Old doubts go with the old state.
func (o *Outbox) die(tx database.Tx, now time.Time, r Recipient, reason, detail string, since time.Time) error {
	r.open()
	r.State, r.Reason, r.Detail, r.Since = RecipientDead, reason, shorten(detail), since
	if err := o.save(tx, r); err != nil {
		return err
	}
	state, why := r.fate()
	return o.endWaiting(tx, now, r.Address, state, why, detail)
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
