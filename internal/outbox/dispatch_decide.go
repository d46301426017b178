package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// decide looks at the head of a recipient and does what is due: it opens an attempt, or ends a
// message that cannot go, or lets the recipient wait.
func (r *round) decide(tx database.Tx, c candidate) error {
	box := r.d.box
	m, err := box.Message(tx, c.head)
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.again = true
		r.ended++
		return box.rejectUnreadable(tx, r.now, c.head, err)
	}
	if gone := err != nil; gone || m.State != StatePending || m.line != c.address {
		box.touch(tx, c.address) // the turn was not what its message says
		r.wrote = true
		return nil //nolint:nilerr // a message that is not there is no error of the round
	}
	if r.crowd { // among the rows that are not taken in yet there may be an earlier one
		if earlier, err := box.takeInBefore(tx, r.now, m); err != nil || earlier {
			return err
		}
	}
	to, err := box.Recipient(tx, c.address)
	if err != nil {
		return err
	}
	if until := r.notBefore(m, to); until.After(r.now) {
		r.next = earlier(r.next, until)
		return nil
	}
	if over := !box.policy.expiry(m, r.pauses, r.wall).After(r.wall); over && !r.d.clock.Known() {
		return nil // neither ended nor sent until the channel has told its time
	} else if over && r.d.clock.Trusted() {
		return r.end(tx, m, ending{StateDead, ReasonExpired, "", r.now})
	}
	if m.Doubts > 0 {
		seen, err := r.signSince(tx, m)
		if err != nil || !seen {
			return err
		}
	}
	if at := r.d.limiter.NextTo(c.address, r.now); at.After(r.now) {
		to.paceUntil, to.paceWait = wholeMillis(at), at.Sub(r.now)
		r.consider(to.paceUntil, true)
		r.wrote = true
		return box.save(tx, to)
	}
	return r.open(tx, c, m, to)
}

// notBefore is when the head of a recipient may go, by our own time: after the recipient's gate,
// doubt and pace and the message's own wait.
func (r *round) notBefore(m Message, to Recipient) time.Time {
	at := latest(
		onClock(to.GateUntil, to.gateWait, r.now),
		onClock(to.doubtUntil, to.doubtWait, r.now),
		onClock(to.paceUntil, to.paceWait, r.now))
	if m.readyWait > 0 {
		at = latest(at, onClock(m.readyAt, m.readyWait, r.now))
	}
	return at
}

// signSince says whether the channel has shown life since a message came into doubt, and otherwise
// notes that somebody waits for that.
func (r *round) signSince(tx database.Tx, m Message) (bool, error) {
	var ended sql.NullInt64
	err := tx.QueryRow(`SELECT max(ended_at) FROM notifier_attempts WHERE message_id = ? AND result = 'uncertain'`, m.ID).Scan(&ended)
	if err != nil {
		return false, fmt.Errorf("look when message %d came into doubt: %w", m.ID, err)
	}
	// What this process was not there to see is no sign. A doubt from the future was stored by an
	// earlier process, whose clock was ahead.
	since := r.d.clock.anchor
	if at := instant(ended); !at.After(r.now) {
		since = latest(since, at)
	}
	if r.machine.signSince(since) {
		return true, nil
	}
	if r.want == "" {
		r.want = m.line
		if ask, _ := r.machine.maySign(r.now); ask && r.ask == probeNone {
			r.ask, r.whom = probeSign, m.line
			r.machine, _ = r.machine.step(askingEvent{probeSign}, r.now)
		}
	}
	return false, nil
}

// end ends a message without a call. Its recipient's next one gets its turn in the next round.
func (r *round) end(tx database.Tx, m Message, e ending) error {
	r.ended++
	r.again = true
	return r.d.box.finish(tx, m, e)
}

// open writes the attempt. Without its row there is no call.
func (r *round) open(tx database.Tx, c candidate, m Message, to Recipient) error {
	letter, err := r.d.compose(m)
	if err != nil {
		e := ending{StateDead, ReasonTemplateError, shorten(err.Error()), r.now}
		var refused *Refusal
		if errors.As(err, &refused) {
			e.reason, e.detail = refused.Reason, refused.Detail
		}
		return r.end(tx, m, e)
	}
	granted := call{
		message: m.ID, address: c.address, epoch: to.epoch, letter: letter, started: r.now,
		created: latest(m.CreatedAt, m.NotBefore, m.ageFrom),
	}
	err = tx.QueryRow(`INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at)
		VALUES (?, ?, ?, ?, ?) RETURNING id`, r.d.box.channel, m.ID, c.address, to.epoch, r.now.UnixMilli()).Scan(&granted.attempt)
	if err != nil {
		return fmt.Errorf("open an attempt for message %d: %w", m.ID, err)
	}
	if _, err := tx.Exec(`UPDATE outbox SET state = 'sending', ready_wait = 0 WHERE id = ?`, m.ID); err != nil {
		return fmt.Errorf("open an attempt for message %d: %w", m.ID, err)
	}
	r.d.box.countMove(tx, m, StateSending, "")
	r.d.box.touch(tx, c.address)
	r.machine, _ = r.machine.step(startedEvent{granted.attempt}, r.now)
	r.granted = append(r.granted, granted)
	return nil
}

// compose turns a message into what the channel takes. A panic of a template is the message's own
// trouble.
func (d *Dispatcher) compose(m Message) (l Composed, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("composing a message panicked", "message", m.ID, "type", m.Type)
			l, err = nil, &Refusal{ReasonTemplateError, "its template panicked"}
		}
	}()
	return d.sender.Compose(Draft{MessageID: m.ID, Address: m.line, Type: m.Type, Payload: m.Payload, Plain: m.plain})
}
