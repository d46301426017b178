package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Bulk chooses what an action is for: whatever is in a state, and has the reason and has been so
// since the instant, where they are given.
type Bulk struct {
	State  string // of messages: dead, uncertain or canceled; of recipients: dead or doubtful
	Reason string
	Since  time.Time
	DryRun bool // only count
}

// RetryAll retries all messages that are chosen and that Retry would take without force, and
// returns their number. It goes in slices; what a kill or the end of ctx leaves over is done by the
// sender.
func (o *Outbox) RetryAll(ctx context.Context, db *database.DB, now time.Time, b Bulk) (int, error) {
	if b.Reason != "" && State(b.State) != stateOf(b.Reason) {
		return 0, nil
	}
	return o.all(ctx, db, now, b, taskRetry, o.retryable)
}

// ReviveAll revives all recipients that are chosen, those that asked us to stop aside, and
// returns their number. It goes in slices as RetryAll does.
func (o *Outbox) ReviveAll(ctx context.Context, db *database.DB, now time.Time, b Bulk) (int, error) {
	return o.all(ctx, db, now, b, taskRevive, o.revivable)
}

// chosen finds what the next slice of a bulk action deals with, and moves its task on. It returns
// how many rows it looked at; a slice that looked at fewer than mostRows is the last.
type chosen func(tx database.Tx, now time.Time, t *task, act func(any) error) (int, error)

func (o *Outbox) all(ctx context.Context, db *database.DB, now time.Time, b Bulk, kind string, next chosen) (int, error) {
	t := task{kind: kind, state: b.State, reason: b.Reason, since: b.Since}
	if b.DryRun {
		for {
			looked := 0
			err := db.Read(ctx, func(tx database.Tx) (err error) {
				looked, err = next(tx, now, &t, func(any) error { t.changed++; return nil })
				return err
			})
			if err != nil || looked < mostRows {
				return t.changed, err
			}
		}
	}
	err := db.Write(ctx, func(tx database.Tx) error {
		last, err := o.lastID(tx)
		if err != nil {
			return err
		}
		started := t
		started.upto = last
		t, err = o.start(tx, now, started)
		return err
	})
	if err != nil || t.id == 0 {
		return t.changed, err
	}
	_, err = db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		var over bool
		t, over, err = o.bulkStep(tx, now, t)
		if over || err != nil {
			return 0, err
		}
		return limit, nil
	})
	return t.changed, err
}

// bulkStep does the next slice of a bulk action, beside which the sender may do others, and says
// whether it is over.
func (o *Outbox) bulkStep(tx database.Tx, now time.Time, t task) (task, bool, error) {
	var done bool
	err := tx.QueryRow(`SELECT done FROM notifier_tasks WHERE id = ?`, t.id).Scan(&done)
	if errors.Is(err, sql.ErrNoRows) { // a sender that has just begun has swept it away
		return t, true, nil
	}
	if err != nil {
		return t, false, fmt.Errorf("look how far a bulk action has come: %w", err)
	}
	t, err = scanTask(tx.QueryRow(`SELECT `+taskColumns+` FROM notifier_tasks WHERE id = ?`, t.id))
	if err != nil {
		return t, false, err
	}
	if !done {
		if done, err = o.slice(tx, now, &t); err != nil {
			return t, false, err
		}
	}
	if !done {
		return t, false, o.keep(tx, t, false)
	}
	_, err = tx.Exec(`DELETE FROM notifier_tasks WHERE id = ?`, t.id)
	return t, true, err
}

// retryable finds messages that Retry would take without force, by their ids.
func (o *Outbox) retryable(tx database.Tx, now time.Time, t *task, act func(any) error) (int, error) {
	// The words of the partial indexes have to stand in the query.
	condition := `INDEXED BY outbox_troubled WHERE channel = ?1 AND state = ?2
		AND state IN ('uncertain', 'dead', 'canceled') AND ?3 = '' AND id > ?4 AND (?5 = 0 OR id <= ?5) ORDER BY id`
	if t.reason != "" {
		condition = `INDEXED BY outbox_reason WHERE channel = ?1 AND +state = ?2
			AND reason = ?3 AND id > ?4 AND (?5 = 0 OR id <= ?5) ORDER BY id`
	}
	var after int64
	if t.after != "" {
		if _, err := fmt.Sscan(t.after, &after); err != nil {
			return 0, fmt.Errorf("read how far it has come: %w", err)
		}
	}
	list, err := o.messagesBy(tx, condition, o.channel, t.state, t.reason, after, t.upto)
	if err != nil {
		return 0, err
	}
	s := newSlice()
	for _, m := range list {
		if !s.more() {
			return mostRows, nil
		}
		t.after = fmt.Sprint(m.ID)
		if m.EndedAt.Before(t.since) {
			continue
		}
		root, err := o.refuseRetry(tx, now, m, false)
		var conflict *ConflictError
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if err := act(retryOf{m, root}); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// retryOf is a message with the address it goes to.
type retryOf struct {
	message Message
	root    string
}

// revivable finds recipients that Revive would take, by their addresses.
func (o *Outbox) revivable(tx database.Tx, _ time.Time, t *task, act func(any) error) (int, error) {
	list, err := o.Recipients(tx, RecipientState(t.state), t.after, mostRows)
	if err != nil {
		return 0, err
	}
	s := newSlice()
	for _, r := range list {
		if !s.more() {
			return mostRows, nil
		}
		t.after = r.Address
		if t.reason != "" && r.Reason != t.reason || r.Reason == RecipientStopped || r.Since.Before(t.since) {
			continue
		}
		if err := act(r); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

func (o *Outbox) sliceRetry(tx database.Tx, now time.Time, t *task) (bool, error) {
	looked, err := o.retryable(tx, now, t, func(x any) error {
		t.changed++
		r := x.(retryOf) //nolint:forcetypeassert // retryable finds nothing else
		return o.retry(tx, now, r.message, r.root)
	})
	return looked < mostRows, err
}

func (o *Outbox) sliceRevive(tx database.Tx, now time.Time, t *task) (bool, error) {
	looked, err := o.revivable(tx, now, t, func(x any) error {
		t.changed++
		r := x.(Recipient) //nolint:forcetypeassert // revivable finds nothing else
		_, err := o.Revive(tx, now, r.Address)
		return err
	})
	return looked < mostRows, err
}
