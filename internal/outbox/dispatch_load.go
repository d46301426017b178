package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"notifier/internal/database"
)

// interrupted is the detail of attempts whose process ended before their answer came.
const interrupted = "the program ended while the call was under way"

// load begins: it claims the right to send, ends the attempts that a killed process left open, and
// restores the rules about the whole channel from what is stored. It reads the open attempts and
// those of the last minute, whatever the table's size. Called again, it begins anew.
func (d *Dispatcher) load(ctx context.Context) error {
	machine, inode, err := d.db.Place()
	if err != nil {
		return err
	}
	foreign, err := d.db.ForeignCommits(ctx)
	if err != nil {
		return err
	}
	var m channelMachine
	var recent []recentCall
	var status SenderStatus
	copied := 0
	now := d.clock.Now()
	err = d.db.Write(ctx, func(tx database.Tx) error {
		if err := d.box.Register(tx); err != nil {
			return err
		}
		if _, err := d.box.claim(tx, d.config.Identity, d.holder); err != nil {
			return err
		}
		if copied, err = d.box.holdCopy(tx, now, place{machine, inode}); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM notifier_tasks WHERE channel = ? AND done = 1`, d.box.channel); err != nil {
			return err // whoever wanted to know their counts is gone
		}
		if err := d.closeOpen(tx, now); err != nil {
			return err
		}
		if m, status, err = d.restore(tx, now); err != nil {
			return err
		}
		recent, err = d.recentCalls(tx, now)
		return err
	})
	if err != nil {
		return err
	}
	if copied > 0 {
		d.log.Warn("this database is a copy: sending is paused until somebody resumes it", "waiting", copied)
	}
	for _, c := range recent {
		d.limiter.Started(c.address, c.started)
		d.limiter.Ended(c.address, c.started, c.ended, c.result == Accepted)
	}
	d.machine, d.status, d.foreign, d.looked, d.next = m, status, foreign, time.Time{}, time.Time{}
	return d.shorten(ctx, now)
}

// restore rebuilds the rules about the whole channel from what is stored.
func (d *Dispatcher) restore(tx database.Tx, now time.Time) (channelMachine, SenderStatus, error) {
	var s storedChannel
	var err error
	if s.sender, err = d.box.sender(tx); err != nil {
		return channelMachine{}, SenderStatus{}, err
	}
	if s.failures, s.detail, err = d.failuresInARow(tx); err != nil {
		return channelMachine{}, SenderStatus{}, err
	}
	if s.refused, s.lastCall, err = d.refusedInARow(tx); err != nil {
		return channelMachine{}, SenderStatus{}, err
	}
	return restoreMachine(s, d.config.Identity, now), SenderStatus{State: s.sender.state, Reason: s.sender.reason, Until: s.sender.until}, nil
}

// recentCall is a call of the last minute, for the limiter's windows.
type recentCall struct {
	address        string
	started, ended time.Time
	result         Verdict
}

// recentCalls walks back over the attempts until it comes to one from before the last minute.
func (d *Dispatcher) recentCalls(tx database.Tx, now time.Time) ([]recentCall, error) {
	const page = 500
	var list []recentCall
	before := int64(1) << 62
	for {
		n, old := 0, false
		err := each(tx, func(r database.Row) error {
			var c recentCall
			var started, ended sql.NullInt64
			if err := r.Scan(&before, &c.address, &started, &ended, &c.result); err != nil {
				return err
			}
			n++
			c.started, c.ended = earlier(instant(started), now), earlier(instant(ended), now)
			if old = now.Sub(c.ended) > time.Minute; !old {
				list = append(list, c)
			}
			return nil
		}, `SELECT id, address, started_at, coalesce(ended_at, started_at), result FROM notifier_attempts
			WHERE channel = ? AND id < ? ORDER BY id DESC LIMIT ?`, d.box.channel, before, page)
		if err != nil {
			return nil, fmt.Errorf("read the attempts of the last minute: %w", err)
		}
		if n < page || old {
			slices.Reverse(list)
			return list, nil
		}
	}
}

// failuresInARow are the last failures of the channel with nothing accepted after them, oldest
// first, and the words of the last. Attempts that a killed process left behind say nothing about
// the channel.
func (d *Dispatcher) failuresInARow(tx database.Tx) (row []Failure, detail string, err error) {
	accepted := false
	err = each(tx, func(r database.Row) error {
		var f Failure
		var v Verdict
		var words sql.NullString
		if err := r.Scan(&f.Attempt, &f.Message, &f.Address, &f.Counted, &v, &words); err != nil {
			return err
		}
		accepted = accepted || v == Accepted
		if !accepted && v.failure() && words.String != interrupted && len(row) < breakerLimit {
			if len(row) == 0 {
				detail = words.String
			}
			row = append([]Failure{f}, row...)
		}
		return nil
	}, `SELECT id, message_id, address, counted, result, detail FROM notifier_attempts
		WHERE channel = ? ORDER BY id DESC LIMIT 50`, d.box.channel)
	if err != nil {
		return nil, "", fmt.Errorf("read the last failures: %w", err)
	}
	return row, detail, nil
}

// refusedInARow are the chats that were refused after the last acceptance, and had accepted before.
// last is when the newest call began.
func (d *Dispatcher) refusedInARow(tx database.Tx) (row []string, last time.Time, err error) {
	accepted := false
	err = each(tx, func(r database.Row) error {
		var address string
		var v Verdict
		var by sql.NullString
		var spared sql.NullBool
		var started sql.NullInt64
		if err := r.Scan(&address, &started, &v, &by, &spared); err != nil {
			return err
		}
		last = latest(last, instant(started))
		accepted = accepted || v == Accepted
		refused := v == ChatDead || v == ChatDoubtful
		if !accepted && refused && by.String == d.config.Identity && !spared.Bool && !slices.Contains(row, address) {
			row = append(row, address)
		}
		return nil
	}, `SELECT a.address, a.started_at, a.result, r.accepted_by, r.spared
		FROM (SELECT id, address, started_at, result FROM notifier_attempts
			WHERE channel = ?1 ORDER BY id DESC LIMIT 200) a
		LEFT JOIN notifier_recipients r ON r.channel = ?1 AND r.address = a.address ORDER BY a.id DESC`, d.box.channel)
	if err != nil {
		return nil, last, fmt.Errorf("read the last refusals: %w", err)
	}
	row = row[:min(len(row), guardLimit-1)]
	slices.Reverse(row)
	return row, last, nil
}

// closeOpen gives attempts that are still open the verdict that fits: nobody knows.
func (d *Dispatcher) closeOpen(tx database.Tx, now time.Time) error {
	var open []call
	err := each(tx, func(r database.Row) error {
		c := call{started: now}
		if err := r.Scan(&c.attempt, &c.message, &c.address, &c.epoch); err != nil {
			return err
		}
		open = append(open, c)
		return nil
	}, `SELECT id, message_id, address, epoch FROM notifier_attempts INDEXED BY notifier_attempts_open
		WHERE channel = ? AND result = 'open'`, d.box.channel)
	if err != nil {
		return fmt.Errorf("read the open attempts: %w", err)
	}
	slices.SortFunc(open, func(a, b call) int { return int(a.attempt - b.attempt) })
	for _, c := range open {
		a := CallResult{Verdict: Uncertain, Detail: interrupted}
		to, err := d.box.Recipient(tx, c.address)
		if err != nil {
			return err
		}
		if _, err := d.record(tx, c, to, a, ruling{counts: true}, now); err != nil {
			return err
		}
	}
	// A row that says it is being sent without an attempt was written by somebody else. One without an
	// address has not been taken in, and will be as new.
	list, err := d.box.messagesBy(tx, `WHERE channel = ? AND state = 'sending' AND address IS NOT NULL ORDER BY id`, d.box.channel)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := d.box.resume(tx, now, m, m.line, ""); err != nil {
			return err
		}
	}
	return nil
}
