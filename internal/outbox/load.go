package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"notifier/internal/database"
)

// interrupted is the detail of attempts whose process ended before their answer came.
const interrupted = "the program ended while the call was under way"

// load reads what a dispatcher has to know at its start: who sends, what is waiting, the recent
// attempts, and those that a killed process left open.
func (d *Dispatcher) load(ctx context.Context) error {
	now := time.Now()
	foreign, err := d.db.ForeignCommits(ctx)
	if err != nil {
		return err
	}
	d.foreign, d.signs.began, d.queues.now = foreign, now, now
	other, err := d.claim(ctx)
	if err != nil || other {
		return err
	}
	if err := d.db.Read(ctx, func(tx database.Tx) error { return d.restore(tx, now) }); err != nil {
		return err
	}
	if err := d.db.Write(ctx, func(tx database.Tx) error { return d.closeOpen(tx, now) }); err != nil {
		return err
	}
	return d.db.Read(ctx, func(tx database.Tx) error { return d.findQueues(tx, now) })
}

// claim compares who we are with who sent for this database before.
func (d *Dispatcher) claim(ctx context.Context) (other bool, err error) {
	var remembered string
	err = d.db.Write(ctx, func(tx database.Tx) error {
		var err error
		remembered, err = d.box.claimIdentity(tx, d.config.Identity)
		return err
	})
	if err != nil {
		return false, err
	}
	d.identity = nil
	if err := d.holdCopy(ctx); err != nil {
		return false, err
	}
	if remembered != d.config.Identity {
		d.identity = otherIdentity(remembered, d.config.Identity)
	}
	return d.identity != nil, nil
}

// restore rebuilds the rules about the whole channel from what is stored.
func (d *Dispatcher) restore(tx database.Tx, now time.Time) error {
	s, err := d.box.sender(tx)
	if err != nil {
		return err
	}
	d.status = SenderStatus{State: s.state, Reason: s.reason, Until: s.until}
	if gate := onClock(s.gateUntil, s.gateWait, now); gate.After(now) {
		d.gate = gate
		d.canary.NewSpell(now)
	}
	row, detail, err := d.failuresInARow(tx)
	if err != nil {
		return err
	}
	d.breaker.Restore(row, detail, now)
	refused, err := d.refusedInARow(tx)
	if err != nil {
		return err
	}
	d.guard.Restore(refused, !s.guard.IsZero(), now)
	return each(tx, func(r database.Row) error {
		var address string
		var started, ended sql.NullInt64
		var result Verdict
		if err := r.Scan(&address, &started, &ended, &result); err != nil {
			return err
		}
		at := instant(started)
		if at.After(now) || !ended.Valid {
			at = now
		}
		d.pacer.Started(address, at)
		d.pacer.Ended(address, at, latest(at, earlier(instant(ended), now)), result == Accepted)
		return nil
	}, `SELECT address, started_at, ended_at, result FROM notifier_attempts
		WHERE channel = ? AND id > (SELECT coalesce(max(id), 0) - 100000 FROM notifier_attempts)
			AND coalesce(ended_at, started_at) > ? ORDER BY id`, d.box.channel, now.Add(-time.Minute).UnixMilli())
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
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
		if !accepted && v.failure() && len(row) < breakerLimit {
			if len(row) == 0 {
				detail = words.String
			}
			row = append([]Failure{f}, row...)
		}
		return nil
	}, `SELECT id, message_id, address, counted, result, detail FROM notifier_attempts
		WHERE channel = ? AND result <> 'open' AND coalesce(detail, '') <> ?
		ORDER BY id DESC LIMIT 50`, d.box.channel, interrupted)
	if err != nil {
		return nil, "", fmt.Errorf("read the last failures: %w", err)
	}
	return row, detail, nil
}

// refusedInARow are the chats that were refused after the last acceptance, and had accepted before.
func (d *Dispatcher) refusedInARow(tx database.Tx) ([]string, error) {
	var row []string
	accepted := false
	err := each(tx, func(r database.Row) error {
		var address string
		var v Verdict
		var before, spared bool
		if err := r.Scan(&address, &v, &before, &spared); err != nil {
			return err
		}
		accepted = accepted || v == Accepted
		if !accepted && v != Accepted && before && !spared && !slices.Contains(row, address) {
			row = append(row, address)
		}
		return nil
	}, `SELECT a.address, a.result, r.accepted, r.spared FROM notifier_attempts a
		JOIN notifier_recipients r ON r.channel = a.channel AND r.address = a.address
		WHERE a.channel = ? AND a.result IN ('accepted', 'chat_dead', 'chat_doubtful')
		ORDER BY a.id DESC LIMIT 100`, d.box.channel)
	if err != nil {
		return nil, fmt.Errorf("read the last refusals: %w", err)
	}
	return row[:min(len(row), guardLimit-1)], nil
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
	}, `SELECT id, message_id, address, epoch FROM notifier_attempts
		WHERE channel = ? AND result = 'open' ORDER BY id`, d.box.channel)
	if err != nil {
		return fmt.Errorf("read the open attempts: %w", err)
	}
	for _, c := range open {
		answer := Answer{Verdict: Uncertain, Detail: interrupted}
		if _, err := d.record(tx, c, answer, ruling{counts: true}, now); err != nil {
			return err
		}
	}
	// A row that says it is being sent without an attempt was written by somebody else.
	_, err = tx.Exec(`UPDATE outbox SET state = 'pending' WHERE channel = ? AND state = 'sending'`, d.box.channel)
	return err
}

// findQueues finds everybody for whom something waits, in one walk over the index of what waits.
func (d *Dispatcher) findQueues(tx database.Tx, now time.Time) error {
	s, err := d.box.sender(tx)
	if err != nil {
		return err
	}
	d.paused, d.mark = !s.pausedAt.IsZero(), s.mark
	if d.pauses, err = d.box.pauses(tx); err != nil {
		return err
	}
	if err := tx.QueryRow(`SELECT coalesce(max(id), 0) FROM outbox`).Scan(&d.lastID); err != nil {
		return fmt.Errorf("find the newest message: %w", err)
	}
	err = each(tx, func(r database.Row) error {
		var key string
		var id int64
		var expires sql.NullInt64
		if err := r.Scan(&key, &id, &expires); err != nil {
			return err
		}
		d.queues.add(key, id, instant(expires))
		return nil
	}, `SELECT coalesce(r.alias_of, m.recipient) AS key, min(m.id), min(`+d.expirySQL()+`)
		FROM outbox m INDEXED BY outbox_waiting
		LEFT JOIN notifier_recipients r ON r.channel = m.channel AND r.address = m.recipient
		WHERE m.channel = ? AND m.state IN ('pending', 'sending') GROUP BY key`, d.box.channel)
	if err != nil {
		return fmt.Errorf("find what waits: %w", err)
	}
	d.looked = now
	return nil
}

// expirySQL is when a message expires at the earliest, without the pauses: see expiry.go.
func (d *Dispatcher) expirySQL() string {
	p := d.box.policy
	return fmt.Sprintf(`coalesce(m.expires_at, max(m.created_at, coalesce(m.not_before, 0), coalesce(m.age_from, 0))
		+ CASE WHEN r.alias_of IS NULL AND substr(m.recipient, 1, %d) = '%s' THEN %d ELSE %d END)`,
		len(AliasPrefix), AliasPrefix, p.UnlinkedTTL.Milliseconds(), p.TTL.Milliseconds())
}

// refresh looks for what others have changed: new messages, and recipients with a new mark. When
// nobody has committed anything it reads SQLite's counter and no table.
func (d *Dispatcher) refresh(ctx context.Context, now time.Time) error {
	if d.rescan {
		if err := d.db.Read(ctx, func(tx database.Tx) error { return d.findQueues(tx, now) }); err != nil {
			return err
		}
		d.queues.lookAgain()
		d.rescan = false
	}
	if !d.changed.Swap(false) {
		if now.Sub(d.looked) < time.Second {
			return nil
		}
		foreign, err := d.db.ForeignCommits(ctx)
		if err != nil {
			return err
		}
		d.looked = now
		if foreign == d.foreign {
			return nil
		}
		d.foreign = foreign
	}
	err := d.db.Read(ctx, func(tx database.Tx) error { return d.readChanges(tx) })
	if err != nil {
		d.changed.Store(true)
	}
	return err
}

func (d *Dispatcher) readChanges(tx database.Tx) error {
	s, err := d.box.sender(tx)
	if err != nil {
		return err
	}
	if s.mark != d.mark {
		if err := d.readMarks(tx, s); err != nil {
			return err
		}
	}
	return d.readNew(tx)
}

// readMarks takes over what people have changed.
func (d *Dispatcher) readMarks(tx database.Tx, s senderRow) error {
	var err error
	if d.pauses, err = d.box.pauses(tx); err != nil {
		return err
	}
	d.paused = !s.pausedAt.IsZero()
	if s.gateUntil.IsZero() {
		d.gate = time.Time{} // released
	}
	if s.guard.IsZero() {
		d.guard.Release()
	}
	if d.identity != nil && s.identity == d.config.Identity {
		d.identity, d.loaded = nil, false // accepted: the next pass begins anew
	}
	var touched []string
	err = each(tx, func(r database.Row) error {
		var address string
		err := r.Scan(&address)
		touched = append(touched, address)
		return err
	}, `SELECT address FROM notifier_recipients WHERE channel = ? AND mark > ?`, d.box.channel, d.mark)
	if err != nil {
		return fmt.Errorf("read what was changed: %w", err)
	}
	for _, address := range touched {
		if err := d.lookAt(tx, address); err != nil {
			return err
		}
	}
	d.mark = s.mark
	return nil
}

// lookAt brings the queue of an address up to date with what waits for it, whatever that queue's
// name was and is.
func (d *Dispatcher) lookAt(tx database.Tx, address string) error {
	root, err := d.box.Resolve(tx, address)
	if err != nil {
		return err
	}
	if root == "" {
		root = address
	}
	if q := d.queues.byKey[address]; q != nil && root != address && !q.flying {
		d.queues.drop(q) // it has become an alias: its messages stand in another queue
	}
	var head, expires sql.NullInt64
	err = tx.QueryRow(`SELECT min(m.id), min(`+d.expirySQL()+`) FROM outbox m INDEXED BY outbox_waiting
		LEFT JOIN notifier_recipients r ON r.channel = m.channel AND r.address = m.recipient
		WHERE m.channel = ?1 AND m.state IN ('pending', 'sending') AND (m.recipient = ?2 OR m.recipient IN
			(SELECT address FROM notifier_recipients WHERE channel = ?1 AND alias_of = ?2))`,
		d.box.channel, root).Scan(&head, &expires)
	if err != nil {
		return fmt.Errorf("look at what waits for %s: %w", root, err)
	}
	if head.Valid {
		d.queues.makeReady(d.queues.add(root, head.Int64, instant(expires)))
	}
	return nil
}

// readNew takes up the messages that were added since the last look.
func (d *Dispatcher) readNew(tx database.Tx) error {
	for {
		n, last := 0, d.lastID
		err := each(tx, func(r database.Row) error {
			var key string
			var expires sql.NullInt64
			if err := r.Scan(&last, &key, &expires); err != nil {
				return err
			}
			n++
			if q := d.queues.add(key, last, instant(expires)); q.planned {
				d.queues.makeReady(q)
			}
			return nil
		}, `SELECT m.id, coalesce(r.alias_of, m.recipient), `+d.expirySQL()+withAlias+
			`WHERE m.channel = ? AND m.id > ? AND m.state = 'pending' ORDER BY m.id LIMIT ?`,
			d.box.channel, d.lastID, d.config.BatchSize)
		if err != nil {
			return fmt.Errorf("read new messages: %w", err)
		}
		d.lastID = last
		if n < d.config.BatchSize {
			return nil
		}
	}
}

// waitsForLink says whether a queue's key stands for nobody yet.
func waitsForLink(key string) bool { return strings.HasPrefix(key, AliasPrefix) }
