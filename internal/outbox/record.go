package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// event is an answer that a call or a probe brought back.
type event struct {
	call   *call                       // nil for a probe
	probed func(a Answer, t time.Time) // what to do with a probe's answer
	answer Answer
	at     time.Time // when the answer came
	ruling ruling    // what the rules about the whole channel say of it
}

// ruling is what the rules about the whole channel make of an answer.
type ruling struct {
	counts  bool      // a failure counts towards its message's attempts
	uncount []Failure // earlier ones that no longer do
	charge  *Failure  // an earlier one that does after all
	gate    time.Duration
	spare   bool     // the guard holds: a refusal kills nobody
	back    []string // the chats that the guard takes back
	guarded bool     // the guard ended
}

// took takes an answer: the rules about the whole channel hear of it at once, the database at the
// next save.
func (d *Dispatcher) took(e event) {
	d.clock.Heard(e.answer.Date, e.at)
	d.hear(e.answer)
	doubt := d.clock.Doubt()
	d.doubt.Store(&doubt)
	if e.call == nil {
		d.probes--
		e.probed(e.answer, e.at)
		return
	}
	d.calls--
	c, a := e.call, e.answer
	d.pacer.Ended(c.address, c.started, e.at, a.Answered)
	d.watch.Attempted(a.Verdict, e.at.Sub(c.started))
	e.ruling = d.rule(*c, a, e.at)
	d.unsaved = append(d.unsaved, e)
}

// hear notes whether the channel answers at all, also while the breaker sees no outage: a night
// with nothing to send, or with one message that nobody answers, has no three failures in a row.
func (d *Dispatcher) hear(a Answer) {
	switch {
	case a.Answered:
		d.silence = ""
	case a.Verdict == NotSent || a.Verdict == NotTelegram || a.Verdict == Uncertain || a.Verdict == Failed:
		d.silence = a.Detail
	}
}

// rule lets the rules about the whole channel hear of an answer.
func (d *Dispatcher) rule(c call, a Answer, at time.Time) ruling {
	var r ruling
	wait := a.Wait
	if wait <= 0 {
		wait = floodWait(0)
	}
	if gate := d.canary.Ended(c.attempt, c.started, a.Verdict, wait, at); gate > 0 {
		r.gate = gate
		d.gate = latest(d.gate, at.Add(gate))
		d.pacer.Slow(d.gate)
		d.log.Warn("the whole channel has to wait", "for", gate)
	}
	wasOpen := d.breaker.Open()
	switch {
	case a.Verdict == Accepted:
		r.charge = d.breaker.Accepted(c.address)
		r.guarded = d.guard.Accepted()
		d.seen(at)
		d.report.Sent++
		d.watch.Delivered(at.Sub(c.created))
	case a.Verdict == BotStopped:
		d.breaker.Refused(c.attempt, a.Detail, at)
	case a.Verdict.failure():
		r.counts, r.uncount = d.breaker.Failed(Failure{c.attempt, c.message, c.address, true}, a.Detail, at)
		if a.Verdict == Uncertain {
			d.signs.doubt(c.message, at)
		}
	default:
		d.breaker.Answered(c.attempt, at)
		if a.Verdict == ChatDead || a.Verdict == ChatDoubtful {
			r.back = d.guard.Refused(c.address, c.accepted, c.spared, at)
			r.spare = d.guard.Active()
		}
	}
	if len(r.back) > 0 {
		d.log.Error("five chats in a row were refused that had accepted messages before; "+
			"they are taken back, and one message a minute tries", "detail", a.Detail)
	}
	if now := d.breaker.Open(); now != wasOpen {
		d.log.Warn("outage", "begins", now, "detail", a.Detail)
	}
	return r
}

// save puts the answers on disk that are not there yet. While it cannot, they are kept, and
// nothing new is started.
func (d *Dispatcher) save(now time.Time) {
	if len(d.unsaved) == 0 || d.saveAgain.After(now) {
		return
	}
	d.saveAgain = time.Time{}
	after := make([]func(), 0, len(d.unsaved))
	err := d.db.Write(context.Background(), func(tx database.Tx) error {
		after = after[:0]
		for _, e := range d.unsaved {
			next, err := d.record(tx, *e.call, e.answer, e.ruling, e.at)
			if err != nil {
				return err
			}
			after = append(after, func() { d.turnOver(e.call.queue, next, now) })
		}
		return nil
	})
	if err != nil {
		d.saveAgain = now.Add(time.Second)
		d.log.Error("cannot store what was sent; nothing new is sent until that works", "err", err)
		return
	}
	d.unsaved = nil
	for _, f := range after {
		f()
	}
}

// turnOver gives a recipient its next turn, after its call was recorded.
func (d *Dispatcher) turnOver(q *queue, next standing, now time.Time) {
	q.flying = false
	if next.root != q.key || next.head == 0 {
		d.queues.drop(q)
		if next.head != 0 {
			d.queues.makeReady(d.queues.add(next.root, next.head, q.expires))
		}
		return
	}
	q.head = next.head
	if at := d.pacer.Next(q.key, now); at.After(now) {
		d.queues.wait(q, at, true)
		return
	}
	d.queues.makeReady(q)
}

// standing is where a recipient stands after a call: what it is called now, and the oldest
// message that waits for it (0: none).
type standing struct {
	root string
	head int64
}

// record writes what came of an attempt: to the attempt, its message and its recipient. An
// attempt that has been recorded before changes nothing.
func (d *Dispatcher) record(tx database.Tx, c call, a Answer, r ruling, at time.Time) (standing, error) {
	m, err := d.box.Message(tx, c.message)
	gone := errors.Is(err, ErrNotFound)
	if err != nil && !gone {
		return standing{}, err
	}
	to, err := d.box.Recipient(tx, c.address)
	if err != nil {
		return standing{}, err
	}
	if a.Verdict == Moved {
		circle, err := d.leadsBack(tx, to.Address, a)
		if err != nil {
			return standing{}, err
		}
		if circle {
			a.Verdict, a.Detail, r.counts = Failed, "moved to where it came from: "+a.MovedTo, true
		}
	}
	relinked := !gone && m.Address != c.address
	if relinked {
		c.epoch = -1 // a refusal was about a chat that is not this message's any more
	}
	out := judge(m, to, a, circumstances{c.epoch, r.counts, r.spare}, d.box.policy, at)
	first, err := d.closeAttempt(tx, c, a, out.counted, at)
	if err != nil {
		return standing{}, err
	}
	if first && !gone && m.State == Sending {
		if err := d.apply(tx, m, c.address, to, out, a, at); err != nil {
			return standing{}, err
		}
	}
	if err := d.applyRuling(tx, r, at); err != nil {
		return standing{}, err
	}
	if relinked && m.Address != "" {
		if err := d.lookAt(tx, m.Address); err != nil {
			return standing{}, err
		}
	}
	return d.standing(tx, c.address)
}

// closeAttempt completes an attempt's row, and says whether that was the first time.
func (d *Dispatcher) closeAttempt(tx database.Tx, c call, a Answer, counted bool, at time.Time) (bool, error) {
	res, err := tx.Exec(`UPDATE notifier_attempts SET ended_at = ?, result = ?, detail = ?, counted = ?
		WHERE id = ? AND result = 'open'`, at.UnixMilli(), a.Verdict, orNull(a.Detail), counted, c.attempt)
	if err != nil {
		return false, fmt.Errorf("close attempt %d: %w", c.attempt, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// apply writes an outcome.
func (d *Dispatcher) apply(tx database.Tx, m Message, address string, to Recipient, out outcome, a Answer, at time.Time) error {
	var retryAt, sentTo, ended any
	if out.retryIn > 0 {
		retryAt = at.Add(out.retryIn).UnixMilli()
	}
	if out.state != Pending {
		ended, sentTo = at.UnixMilli(), address
		d.signs.forget(m.ID)
	}
	if out.state != Pending && out.state != Sent {
		d.report.Ended++
	}
	detail := a.Detail
	if a.Verdict == Accepted {
		detail = ""
	}
	_, err := tx.Exec(`UPDATE outbox SET state = ?, reason = ?, detail = ?, failures = failures + ?,
			doubts = doubts + ?, plain = ?, retry_at = ?, retry_wait = ?, remote_id = ?, sent_to = ?, ended_at = ?
		WHERE id = ?`, out.state, orNull(out.reason), orNull(detail), out.counted, out.doubted, out.plain,
		retryAt, out.retryIn.Milliseconds(), orZero(a.RemoteID), sentTo, ended, m.ID)
	if err != nil {
		return fmt.Errorf("record what came of message %d: %w", m.ID, err)
	}
	if to.Address != address { // it was linked elsewhere meanwhile: this answer was about the old one
		return nil
	}
	if out.changed {
		if err := d.box.save(tx, out.recipient); err != nil {
			return err
		}
	}
	if out.endOthers {
		return d.box.endWaiting(tx, at, address, out.state, out.reason, a.Detail)
	}
	if out.movedTo != "" {
		return d.box.move(tx, address, out.movedTo)
	}
	return nil
}

func orZero(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// leadsBack says whether a move would lead back to where it came from. Followed, it would go round
// for ever, so it counts as a failure.
func (d *Dispatcher) leadsBack(tx database.Tx, address string, a Answer) (bool, error) {
	root, err := d.box.Resolve(tx, a.MovedTo)
	return root == "" || root == address, err
}

// applyRuling writes what the rules about the whole channel decided.
func (d *Dispatcher) applyRuling(tx database.Tx, r ruling, at time.Time) error {
	for _, f := range r.uncount {
		if err := d.uncount(tx, f); err != nil {
			return err
		}
	}
	if r.charge != nil {
		if err := d.charge(tx, *r.charge, at); err != nil {
			return err
		}
	}
	for _, address := range r.back {
		if err := errors.Join(d.box.takeBack(tx, address), d.box.setGuard(tx, at), d.lookAt(tx, address)); err != nil {
			return err
		}
	}
	if r.guarded {
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
func (d *Dispatcher) uncount(tx database.Tx, f Failure) error {
	_, err := tx.Exec(`UPDATE outbox SET failures = max(0, failures - 1) WHERE id = ?
		AND EXISTS (SELECT 1 FROM notifier_attempts WHERE id = ? AND counted = 1)`, f.Message, f.Attempt)
	if err == nil {
		_, err = tx.Exec(`UPDATE notifier_attempts SET counted = 0 WHERE id = ?`, f.Attempt)
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE outbox SET retry_at = NULL, retry_wait = NULL
			WHERE id = ? AND state = 'pending' AND doubts = 0`, f.Message)
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE outbox SET state = 'pending', reason = NULL, ended_at = NULL, sent_to = NULL
			WHERE id = ? AND (state = 'dead' AND reason = 'too_many_attempts'
				OR state = 'uncertain' AND doubts < 2 AND coalesce(on_uncertain, ?) = 'resend')`,
			f.Message, d.box.policy.OnUncertain)
	}
	if err != nil {
		return fmt.Errorf("uncount attempt %d: %w", f.Attempt, err)
	}
	return d.lookAt(tx, f.Address)
}

// charge lets one failure of a spell count after all.
func (d *Dispatcher) charge(tx database.Tx, f Failure, at time.Time) error {
	m, err := d.box.Message(tx, f.Message)
	if err != nil || m.State != Pending {
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	out := outcome{state: Pending, counted: true, doubted: m.Doubts > 0}
	out.failed(m, d.box.policy)
	if _, err := tx.Exec(`UPDATE notifier_attempts SET counted = 1 WHERE id = ?`, f.Attempt); err != nil {
		return fmt.Errorf("charge attempt %d: %w", f.Attempt, err)
	}
	var ended any
	if out.state != Pending {
		ended = at.UnixMilli()
		d.report.Ended++
	}
	_, err = tx.Exec(`UPDATE outbox SET failures = failures + 1, state = ?, reason = ?, ended_at = ?,
			retry_at = ?, retry_wait = ? WHERE id = ?`, out.state, orNull(out.reason), ended,
		at.Add(out.retryIn).UnixMilli(), out.retryIn.Milliseconds(), f.Message)
	if err != nil {
		return fmt.Errorf("charge message %d: %w", f.Message, err)
	}
	return d.lookAt(tx, f.Address)
}

// standing is where a recipient stands now.
func (d *Dispatcher) standing(tx database.Tx, address string) (standing, error) {
	s := standing{root: address}
	root, err := d.box.Resolve(tx, address)
	if err != nil {
		return s, err
	}
	if root != "" {
		s.root = root
	}
	var head sql.NullInt64
	err = tx.QueryRow(`SELECT min(id) FROM outbox INDEXED BY outbox_waiting
		WHERE channel = ?1 AND state = 'pending' AND state IN ('pending', 'sending') AND recipient IN
			(SELECT ?2 UNION ALL SELECT address FROM notifier_recipients WHERE channel = ?1 AND alias_of = ?2)`,
		d.box.channel, s.root).Scan(&head)
	if err != nil {
		return s, fmt.Errorf("look for the next message to %s: %w", s.root, err)
	}
	s.head = head.Int64
	return s, nil
}
