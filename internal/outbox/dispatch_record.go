package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// result is an answer that a call or a probe has brought back.
type result struct {
	attempt int64 // 0 for a probe
	probe   probe
	answer  CallResult
	at      time.Time // a reading of time.Now
}

// answered is the answer to a call that is not on disk yet.
type answered struct {
	call   call
	answer CallResult
	at     time.Time // our time
}

// took takes an answer. What concerns the pace and the clock is known at once; what it means for
// the message, its recipient and the whole channel is decided in the transaction that records it.
func (d *Dispatcher) took(r result) {
	d.clock.Heard(r.answer.Date)
	d.tellClock()
	at := d.clock.At(r.at)
	if r.attempt == 0 {
		d.probes--
		d.machine, _ = d.machine.step(askedEvent{probe: r.probe, answer: r.answer}, at)
		d.looked = time.Time{} // the next round may find that more may go
		return
	}
	c := d.calls[r.attempt]
	delete(d.calls, r.attempt)
	d.limiter.Ended(c.address, c.started, at, r.answer.Answered)
	d.watch.Attempted(r.answer.Verdict, at.Sub(c.started))
	d.unsaved = append(d.unsaved, answered{c, r.answer, at})
}

// recorded is what the recording of some answers means for memory.
type recorded struct {
	machine     channelMachine
	sent, ended int
	rulings     []ruling
}

// save puts the answers on disk that are not there yet. While it cannot, they are kept, and
// nothing new is started.
func (d *Dispatcher) save(now time.Time) {
	if len(d.unsaved) == 0 || d.saveAgain.After(now) {
		return
	}
	d.saveAgain = time.Time{}
	var done recorded
	err := d.db.Write(context.Background(), func(tx database.Tx) error {
		done = recorded{machine: d.machine}
		for _, e := range d.unsaved {
			if err := d.recordOne(tx, e, &done); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.saveAgain = now.Add(time.Second)
		trouble := fmt.Sprintf("%d answers cannot be stored; nothing new is sent until that works: %v", len(d.unsaved), err)
		d.trouble.Store(&trouble)
		d.log.Error("cannot store what was sent; nothing new is sent until that works", "answers", len(d.unsaved), "err", err)
		return
	}
	d.trouble.Store(nil)
	d.machine = done.machine
	d.report.Sent += done.sent
	d.report.Ended += done.ended
	for i, r := range done.rulings {
		d.follow(d.unsaved[i], r, now)
	}
	d.unsaved = nil
	d.looked = time.Time{} // there is something new
	d.writes++
}

// follow lets memory and the log follow what was recorded of an answer.
func (d *Dispatcher) follow(e answered, r ruling, now time.Time) {
	if e.answer.Verdict == Accepted {
		d.watch.Delivered(max(0, e.at.Sub(e.call.created)))
	}
	if r.gate > 0 {
		d.limiter.Slow(latest(d.machine.gate, now))
		d.log.Warn("the whole channel has to wait", "for", r.gate)
	}
	if len(r.back) > 0 {
		d.log.Error("five chats in a row were refused that had accepted messages before; "+
			"they are taken back, and one message a minute tries", "detail", e.answer.Detail)
	}
	if r.outage != 0 {
		d.log.Warn("outage", "begins", r.outage > 0, "detail", e.answer.Detail)
	}
}

// recordOne lets the rules about the whole channel hear of an answer, and records it.
func (d *Dispatcher) recordOne(tx database.Tx, e answered, done *recorded) error {
	to, err := d.box.Recipient(tx, e.call.address)
	if err != nil {
		return err
	}
	event := answeredEvent{
		attempt: e.call.attempt, message: e.call.message, address: e.call.address, started: e.call.started,
		answer: e.answer, accepted: to.accepts(d.config.Identity), spared: to.spared && to.accepts(d.config.Identity),
	}
	var r ruling
	done.machine, r = done.machine.step(event, e.at)
	done.rulings = append(done.rulings, r)
	ended, err := d.record(tx, e.call, to, e.answer, r, e.at)
	if e.answer.Verdict == Accepted {
		done.sent++
	} else {
		done.ended += ended
	}
	return err
}

// record writes what came of an attempt: to the attempt, its message and its recipient (to). An
// attempt that has been recorded before changes nothing. It returns how many messages ended.
func (d *Dispatcher) record(tx database.Tx, c call, to Recipient, a CallResult, r ruling, at time.Time) (int, error) {
	m, err := d.box.Message(tx, c.message)
	gone := err != nil
	if gone && !errors.Is(err, ErrNotFound) {
		if err := d.box.rejectUnreadable(tx, at, c.message, err); err != nil {
			return 0, err
		}
	}
	if a.Verdict == Moved {
		if err := d.refuseCircle(tx, to, &a, &r); err != nil {
			return 0, err
		}
	}
	moved, err := d.movedMeanwhile(tx, gone, m, c, a)
	if err != nil {
		return 0, err
	}
	if moved {
		c.epoch = -1 // a refusal was about a chat that is not this message's any more
	}
	out := judge(m, to, a, circumstances{epoch: c.epoch, counts: r.counts, spare: r.spare,
		identity: d.config.Identity, sendTimeout: d.config.SendTimeout}, d.box.policy, at)
	if !gone {
		if err := d.endDeaf(tx, m, &out); err != nil {
			return 0, err
		}
	}
	first, err := d.closeAttempt(tx, c, a, out.counted, at)
	if err != nil {
		return 0, err
	}
	d.box.touch(tx, c.address, m.line)
	ended := 0
	if first && !gone && m.State == StateSending {
		if ended, err = d.applyOutcome(tx, m, out, a, at); err != nil {
			return 0, err
		}
	}
	if first {
		if err := d.applyRecipient(tx, c, moved, m.Erased, out, a, at); err != nil {
			return 0, err
		}
	}
	return ended, d.applyRuling(tx, r, at)
}

// endDeaf ends a message that would wait on, and whose recipient has died while its call was under
// way: what waited for it has ended, and nothing would ever wake this one.
func (d *Dispatcher) endDeaf(tx database.Tx, m Message, out *outcome) error {
	if out.state != StatePending || out.movedTo != "" {
		return nil
	}
	r := out.recipient
	if m.line != r.Address {
		var err error
		if r, err = d.box.Recipient(tx, m.line); err != nil {
			return err
		}
	}
	switch {
	case r.hears(m.rank):
	case m.Doubts > 0 || out.doubted:
		out.end(StateUncertain, "")
	default:
		out.end(r.fate())
	}
	return nil
}

// movedMeanwhile says whether a message goes elsewhere since its call began, by a link or a move. What
// moves in slices may not have come to it yet; only for a refusal that makes a difference.
func (d *Dispatcher) movedMeanwhile(tx database.Tx, gone bool, m Message, c call, a CallResult) (bool, error) {
	if gone || m.line != c.address {
		return !gone, nil
	}
	if a.Verdict != ChatDead && a.Verdict != ChatDoubtful {
		return false, nil
	}
	root, err := d.box.root(tx, m.Recipient)
	return root != c.address, err
}

// closeAttempt completes an attempt's row, and says whether that was the first time.
func (d *Dispatcher) closeAttempt(tx database.Tx, c call, a CallResult, counted bool, at time.Time) (bool, error) {
	res, err := tx.Exec(`UPDATE notifier_attempts SET ended_at = ?, result = ?, detail = ?, counted = ?
		WHERE id = ? AND result = 'open'`, at.UnixMilli(), a.Verdict, orNull(shorten(a.Detail)), counted, c.attempt)
	if err != nil {
		return false, fmt.Errorf("close attempt %d: %w", c.attempt, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// applyOutcome writes what a verdict does to its message.
func (d *Dispatcher) applyOutcome(tx database.Tx, m Message, out outcome, a CallResult, at time.Time) (ended int, err error) {
	if m.Erased && out.state != StateSent { // it was erased while the call was under way
		out.end(StateCanceled, ReasonCanceled)
		a.Detail = ""
	}
	var endedAt any
	if out.state != StatePending {
		endedAt = at.UnixMilli()
	}
	if out.state != StatePending && out.state != StateSent {
		ended = 1
	}
	detail := shorten(a.Detail)
	if a.Verdict == Accepted {
		detail = ""
	}
	_, err = tx.Exec(`UPDATE outbox SET state = ?, reason = ?, detail = ?, failures = min(failures + ?, 1000000),
			doubts = min(doubts + ?, 1000000), plain = ?, ready_at = ?, ready_wait = ?, remote_id = ?, ended_at = ?
		WHERE id = ?`, out.state, orNull(out.reason), orNull(detail), out.counted, out.doubted, out.plain,
		at.Add(out.retryIn).UnixMilli(), out.retryIn.Milliseconds(), orZero(a.RemoteID), endedAt, m.ID)
	if err != nil {
		return 0, fmt.Errorf("record what came of message %d: %w", m.ID, err)
	}
	d.box.countMove(tx, m, out.state, out.reason)
	if m.Erased {
		m.State = out.state
		return ended, d.box.eraseOne(tx, at, m, m.Recipient)
	}
	return ended, nil
}

// applyRecipient writes what a verdict does to the recipient of the call.
func (d *Dispatcher) applyRecipient(tx database.Tx, c call, moved, erased bool, out outcome, a CallResult, at time.Time) error {
	r := out.recipient
	if next := wholeMillis(d.limiter.NextTo(c.address, at)); next.After(at) && next.After(r.paceUntil) {
		r.paceUntil, r.paceWait = next, next.Sub(at)
		out.changed = true
	}
	if erased && r.stored == "" {
		out.changed = false // it was forgotten while the call was under way, and stays so
	}
	if out.changed {
		if err := d.box.save(tx, r); err != nil {
			return err
		}
	}
	if out.endOthers && !moved {
		return d.box.endWaiting(tx, at, r.Address, out.state, out.reason, shorten(a.Detail))
	}
	if out.movedTo != "" && r.Address == c.address {
		return d.box.Move(tx, at, c.address, out.movedTo)
	}
	return nil
}

// refuseCircle turns a move that leads back to where it came from into a failure: followed, it
// would go round for ever.
func (d *Dispatcher) refuseCircle(tx database.Tx, to Recipient, a *CallResult, r *ruling) error {
	root, err := d.box.Resolve(tx, a.MovedTo)
	if err != nil {
		return err
	}
	if root == "" || root == to.Address {
		a.Verdict, a.Detail, r.counts = Failed, "moved to where it came from: "+a.MovedTo, true
	}
	return nil
}
