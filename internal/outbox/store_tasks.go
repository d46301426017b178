package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// What a death, a link, a move or a bulk action decides holds at once: the recipient's own row says
// it, in the first transaction. The messages follow in slices of a few milliseconds, so that nobody
// waits for the write lock, and a task in the database remembers how far they have come, so that a
// kill loses nothing. While a task concerns an address, that address has no turn.

// Kinds of tasks.
const (
	taskEnd     = "end"     // end what waits for an address
	taskMove    = "move"    // what waits for an address goes to target
	taskRelink  = "relink"  // what waits for an alias (detail), and stood at address, goes to target
	taskRestore = "restore" // what ended because an address was refused is put back in line
	taskErase   = "erase"   // forget what an address's messages say
	taskRetry   = "retry"   // retry chosen messages
	taskRevive  = "revive"  // revive chosen recipients
)

// task is a row of notifier_tasks.
type task struct {
	id      int64 // 0: not stored
	kind    string
	address string
	target  string
	state   string
	reason  string
	detail  string
	since   time.Time
	upto    int64
	after   string // the id or address that was dealt with last
	changed int
}

const taskColumns = `id, kind, address, target, state, reason, detail, since, upto, after, changed`

func scanTask(row database.Row) (task, error) {
	var t task
	var address, target, state, reason, detail, after sql.NullString
	var since, upto sql.NullInt64
	err := row.Scan(&t.id, &t.kind, &address, &target, &state, &reason, &detail, &since, &upto, &after, &t.changed)
	t.address, t.target, t.state, t.reason = address.String, target.String, state.String, reason.String
	t.detail, t.since, t.upto, t.after = detail.String, instant(since), upto.Int64, after.String
	return t, err
}

// A slice deals with firstRows rows whatever they take, goes on while it has time, and never deals
// with more than mostRows.
const (
	firstRows = 20
	mostRows  = 200
	sliceTime = 4 * time.Millisecond
)

// slice bounds one slice by rows and by time.
type slice struct {
	began time.Time
	rows  int
}

func newSlice() *slice { return &slice{began: time.Now()} }

// more says whether there is room for another row, and counts it.
func (s *slice) more() bool {
	if s.rows >= mostRows || s.rows >= firstRows && time.Since(s.began) > sliceTime {
		return false
	}
	s.rows++
	return true
}

// begin does the first slice of a task in this transaction, and stores what is left of it.
func (o *Outbox) begin(tx database.Tx, now time.Time, t task) error {
	_, err := o.start(tx, now, t)
	return err
}

// start is begin; it returns the task as it stands, whose id is 0 when it is done.
func (o *Outbox) start(tx database.Tx, now time.Time, t task) (task, error) {
	o.touch(tx, t.address, t.target)
	busy, err := o.inTask(tx, t.address, t.target)
	if err != nil {
		return t, err
	}
	if !busy { // else what was decided before comes first
		done, err := o.slice(tx, now, &t)
		if done || err != nil {
			return t, err
		}
	}
	err = tx.QueryRow(`INSERT INTO notifier_tasks (channel, kind, address, target, state, reason, detail, since, upto, after, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, o.channel, t.kind, orNull(t.address), orNull(t.target),
		orNull(t.state), orNull(t.reason), orNull(t.detail), millis(t.since), orZero(t.upto), orNull(t.after), t.changed).Scan(&t.id)
	if err != nil {
		return t, fmt.Errorf("store the task to %s: %w", t.kind, err)
	}
	return t, nil
}

// inTask says whether a task concerns one of two addresses.
func (o *Outbox) inTask(tx database.Tx, address, target string) (bool, error) {
	var busy bool
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM notifier_tasks WHERE channel = ?1 AND address IN (?2, ?3))
		OR EXISTS (SELECT 1 FROM notifier_tasks WHERE channel = ?1 AND target IN (?2, ?3))`,
		o.channel, orNull(address), orNull(target)).Scan(&busy)
	if err != nil {
		return false, fmt.Errorf("look for tasks: %w", err)
	}
	return busy, nil
}

// runTask does a slice of the first task after the one given, and returns its id; 0 when there is
// none. Of several tasks for one address the oldest comes first.
func (o *Outbox) runTask(tx database.Tx, now time.Time, after int64) (int64, error) {
	t, err := scanTask(tx.QueryRow(`SELECT `+taskColumns+` FROM notifier_tasks t WHERE channel = ?1 AND id > ?2 AND done = 0
		AND NOT EXISTS (SELECT 1 FROM notifier_tasks e WHERE e.channel = ?1 AND e.id < t.id
			AND e.address IN (t.address, t.target))
		AND NOT EXISTS (SELECT 1 FROM notifier_tasks e WHERE e.channel = ?1 AND e.id < t.id
			AND e.target IN (t.address, t.target))
		ORDER BY id LIMIT 1`, o.channel, after))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for tasks: %w", err)
	}
	return t.id, o.goOn(tx, now, t)
}

// goOn does the next slice of a stored task.
func (o *Outbox) goOn(tx database.Tx, now time.Time, t task) error {
	done, err := o.slice(tx, now, &t)
	if err != nil {
		return err
	}
	return o.keep(tx, t, done)
}

// keep stores how far a task has come, or removes it.
func (o *Outbox) keep(tx database.Tx, t task, done bool) error {
	var err error
	switch {
	case done && (t.kind == taskRetry || t.kind == taskRevive): // whoever began it wants to know its count
		_, err = tx.Exec(`UPDATE notifier_tasks SET done = 1, changed = ? WHERE id = ?`, t.changed, t.id)
	case done:
		o.touch(tx, t.address, t.target)
		_, err = tx.Exec(`DELETE FROM notifier_tasks WHERE id = ?`, t.id)
	default:
		_, err = tx.Exec(`UPDATE notifier_tasks SET after = ?, changed = ? WHERE id = ?`, orNull(t.after), t.changed, t.id)
	}
	if err != nil {
		return fmt.Errorf("store how far the task to %s has come: %w", t.kind, err)
	}
	return nil
}

// slice does one slice of a task.
func (o *Outbox) slice(tx database.Tx, now time.Time, t *task) (done bool, err error) {
	switch t.kind {
	case taskEnd:
		done, err = o.sliceEnd(tx, now, t)
	case taskMove:
		done, err = o.sliceMove(tx, now, t)
	case taskRelink:
		done, err = o.sliceRelink(tx, now, t)
	case taskRestore:
		done, err = o.sliceRestore(tx, now, t)
	case taskErase:
		done, err = o.sliceErase(tx, now, t)
	case taskRetry:
		done, err = o.sliceRetry(tx, now, t)
	case taskRevive:
		done, err = o.sliceRevive(tx, now, t)
	}
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", t.kind, t.address, err)
	}
	return done, nil
}

// Settle goes on with all tasks until none is left. The sender does so by itself; whoever changes
// something without a sender beside it, and must know that it is done, calls this.
func (o *Outbox) Settle(ctx context.Context, db *database.DB) error {
	_, err := db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		id, err := o.runTask(tx, time.Now(), 0)
		if id == 0 || err != nil {
			return 0, err
		}
		return limit, nil
	})
	return err
}

// messagesBy reads up to mostRows messages that a condition of an index chooses.
func (o *Outbox) messagesBy(tx database.Tx, condition string, args ...any) ([]Message, error) {
	var ids []int64
	err := each(tx, func(row database.Row) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM outbox `+condition+` LIMIT `+fmt.Sprint(mostRows), args...)
	if err != nil {
		return nil, err
	}
	list := make([]Message, 0, len(ids))
	for _, id := range ids {
		m, err := o.Message(tx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			if err := o.rejectUnreadable(tx, time.Now(), id, err); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, m)
	}
	return list, nil
}

// waitingAt chooses what waits for an address, in the order of its index.
const waitingAt = `INDEXED BY outbox_waiting WHERE channel = ?1 AND address = ?2 AND state = 'pending' AND address IS NOT NULL `

// sliceEnd ends what was waiting when the task began. What a person has retried since, after the
// address was opened again, is left alone: its age counts from the retry.
func (o *Outbox) sliceEnd(tx database.Tx, now time.Time, t *task) (bool, error) {
	r, err := o.Recipient(tx, t.address)
	if err != nil {
		return false, err
	}
	condition := waitingAt + `AND id <= ?3 AND (?4 OR hold <> 0 OR age_from <= ?5)`
	if t.reason == ReasonStopped {
		condition += ` AND rank <> 0` // replies are still sent
	}
	list, err := o.messagesBy(tx, condition, o.channel, t.address, t.upto, r.State == RecipientDead, t.since.UnixMilli())
	if err != nil {
		return false, err
	}
	s := newSlice()
	for _, m := range list {
		if !s.more() {
			return false, nil
		}
		if err := o.finish(tx, m, ending{State(t.state), t.reason, t.detail, now}); err != nil {
			return false, err
		}
		t.changed++
	}
	return len(list) < mostRows, nil
}

// sliceRestore walks over the messages of an address by their ids, and puts those back in line that
// ended because it was refused.
func (o *Outbox) sliceRestore(tx database.Tx, now time.Time, t *task) (bool, error) {
	return o.walk(tx, t, `INDEXED BY outbox_address WHERE channel = ? AND address = ? AND id > ? ORDER BY id`, t.address, func(m Message) error {
		refused := m.Reason == ReasonChatDead || m.Reason == ReasonChatNotFound || m.Reason == ReasonNoRights
		if m.State != StateDead || !refused || m.Erased || m.EndedAt.Before(t.since) {
			return nil
		}
		t.changed++
		return o.resume(tx, now, m, t.address, "")
	})
}

// walk calls fn for the next messages by id. The condition names the index, and ends with its order.
func (o *Outbox) walk(tx database.Tx, t *task, condition, name string, fn func(Message) error) (bool, error) {
	var after int64
	if t.after != "" {
		if _, err := fmt.Sscan(t.after, &after); err != nil {
			return false, fmt.Errorf("read how far it has come: %w", err)
		}
	}
	list, err := o.messagesBy(tx, condition, o.channel, name, after)
	if err != nil {
		return false, err
	}
	s := newSlice()
	for _, m := range list {
		if !s.more() {
			return false, nil
		}
		if err := fn(m); err != nil {
			return false, err
		}
		t.after = fmt.Sprint(m.ID)
	}
	return len(list) < mostRows, nil
}
