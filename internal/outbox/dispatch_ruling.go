package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// applyRuling writes what the rules about the whole channel decided.
func (d *Dispatcher) applyRuling(tx database.Tx, r ruling, at time.Time) error {
	for _, f := range r.uncount {
		if err := d.uncount(tx, f, at); err != nil {
			return err
		}
	}
	if r.charge != nil {
		if err := d.charge(tx, *r.charge, at); err != nil {
			return err
		}
	}
	for _, address := range r.back {
		if err := d.box.takeBack(tx, at, address); err != nil {
			return err
		}
	}
	if len(r.back) > 0 {
		if err := d.box.setGuard(tx, at); err != nil {
			return err
		}
	}
	if r.guardEnded {
		if err := d.box.setGuard(tx, time.Time{}); err != nil {
			return err
		}
	}
	if r.gate > 0 {
		return d.box.gateSender(tx, at.Add(r.gate), r.gate)
	}
	return nil
}

// uncount takes back what a failure cost its message: its count, its back-off, and its end if the
// count was what ended it.
func (d *Dispatcher) uncount(tx database.Tx, f Failure, at time.Time) error {
	_, err := tx.Exec(`UPDATE outbox SET failures = max(0, failures - 1) WHERE id = ?
		AND EXISTS (SELECT 1 FROM notifier_attempts WHERE id = ? AND counted = 1)`, f.Message, f.Attempt)
	if err == nil {
		_, err = tx.Exec(`UPDATE notifier_attempts SET counted = 0 WHERE id = ?`, f.Attempt)
	}
	if err != nil {
		return fmt.Errorf("uncount attempt %d: %w", f.Attempt, err)
	}
	m, err := d.box.Message(tx, f.Message)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	d.box.touch(tx, m.line)
	var failedAt sql.NullInt64
	err = tx.QueryRow(`SELECT ended_at FROM notifier_attempts WHERE id = ?`, f.Attempt).Scan(&failedAt)
	if err != nil && !isNoRows(err) {
		return fmt.Errorf("uncount attempt %d: %w", f.Attempt, err)
	}
	if !m.EndedAt.IsZero() && !m.EndedAt.Equal(instant(failedAt)) {
		return nil // something else has ended it since
	}
	policy := m.OnUncertain
	if policy == "" {
		policy = d.box.policy.OnUncertain
	}
	switch {
	case m.State == StatePending && m.Doubts == 0 && m.hold == holdNone:
		_, err = tx.Exec(`UPDATE outbox SET ready_at = ?, ready_wait = 0 WHERE id = ?`, at.UnixMilli(), m.ID)
	case m.State == StateDead && m.Reason == ReasonTooManyAttempts:
		err = d.putBack(tx, m, at)
	case m.State == StateUncertain && m.Doubts < 2 && policy == OnUncertainResend:
		err = d.putBack(tx, m, at)
	}
	return err
}

// putBack puts a message back in line that an outage had ended. One that the channel may have waits
// as such a one does.
func (d *Dispatcher) putBack(tx database.Tx, m Message, at time.Time) error {
	root, err := d.box.root(tx, m.Recipient)
	if err != nil {
		return err
	}
	if err := d.box.resume(tx, at, m, root, ""); err != nil {
		return err
	}
	if m.Doubts == 0 {
		return nil
	}
	if m, err = d.box.Message(tx, m.ID); err != nil || m.State != StatePending {
		return err // its chat is dead
	}
	wait := resendAfter(d.config.SendTimeout)
	_, err = tx.Exec(`UPDATE outbox SET ready_at = ?, ready_wait = ? WHERE id = ?`, at.Add(wait).UnixMilli(), wait.Milliseconds(), m.ID)
	if err != nil {
		return fmt.Errorf("put message %d back in line: %w", m.ID, err)
	}
	return nil
}

// charge lets one failure of a spell count after all.
func (d *Dispatcher) charge(tx database.Tx, f Failure, at time.Time) error {
	m, err := d.box.Message(tx, f.Message)
	if errors.Is(err, ErrNotFound) || err == nil && m.State != StatePending {
		return nil
	}
	if err != nil {
		return err
	}
	res, err := tx.Exec(`UPDATE notifier_attempts SET counted = 1 WHERE id = ? AND counted = 0`, f.Attempt)
	if err != nil {
		return fmt.Errorf("charge attempt %d: %w", f.Attempt, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // as a canary whose failure counted, of a row that a start has restored
	}
	out := outcome{state: StatePending, counted: true}
	out.failed(m, d.box.policy)
	var ended any
	if out.state != StatePending {
		ended = at.UnixMilli()
	}
	_, err = tx.Exec(`UPDATE outbox SET failures = min(failures + 1, 1000000), state = ?, reason = ?, ended_at = ?,
			ready_at = ?, ready_wait = ? WHERE id = ?`, out.state, orNull(out.reason), ended,
		max(m.readyAt.UnixMilli(), at.Add(out.retryIn).UnixMilli()), max(m.readyWait, out.retryIn).Milliseconds(), f.Message)
	if err != nil {
		return fmt.Errorf("charge message %d: %w", f.Message, err)
	}
	if out.state != StatePending {
		d.box.countMove(tx, m, out.state, out.reason)
	}
	d.box.touch(tx, m.line)
	return nil
}
