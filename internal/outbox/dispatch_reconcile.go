package outbox

import (
	"context"
	"database/sql"
	"time"

	"notifier/internal/database"
)

// The reconciler is an alarm: it compares turns with what the messages say, a few at a time, and
// rests while nothing is written. Nothing relies on it. What it finds differs because of a fault of
// ours, or because another program has written into the sender's columns.

const (
	// reconcileEvery is the least time between two slices.
	reconcileEvery = time.Second
	// reconcileSlice is how many addresses one slice looks at.
	reconcileSlice = 20
)

// reconciler is how far the comparison has come.
type reconciler struct {
	at     time.Time // the last slice
	after  string    // the address that was looked at last
	seen   int64     // of database.ForeignCommits, when the walk began
	writes int64     // of the dispatcher's own writes, likewise
}

// reconcile looks at the next addresses with something in line, or with a turn.
func (d *Dispatcher) reconcile(ctx context.Context) {
	select {
	case <-d.turn:
	default:
		return
	}
	defer func() { d.turn <- struct{}{} }()
	c := &d.reconciler
	now := d.clock.Now()
	if !d.loaded || now.Sub(c.at) < reconcileEvery || c.after == "" && c.seen == d.foreign && c.writes == d.writes {
		return
	}
	if c.after == "" {
		c.seen, c.writes = d.foreign, d.writes
	}
	c.at = now
	var wrong []string
	after := c.after
	err := d.db.Read(ctx, func(tx database.Tx) (err error) {
		after, wrong, err = d.box.compareTurns(tx, c.after, reconcileSlice)
		return err
	})
	if err != nil {
		return
	}
	c.after = after
	if len(wrong) > 0 {
		d.mend(ctx, wrong)
	}
}

// mend derives the turns that differ.
func (d *Dispatcher) mend(ctx context.Context, addresses []string) {
	mended := 0
	err := d.db.Write(ctx, func(tx database.Tx) error {
		mended = 0
		for _, address := range addresses {
			changed, err := d.box.settle(tx, address)
			if err != nil {
				return err
			}
			if changed {
				mended++
			}
		}
		return nil
	})
	if err == nil && mended > 0 {
		d.log.Error("turns differed from their messages and were mended", "turns", mended)
		d.watch.Mended(mended)
		d.Wake()
	}
}

// compareTurns compares the turns of the next addresses after one, by their text, and returns the
// last that it looked at – empty at the end – and those that differ.
func (o *Outbox) compareTurns(tx database.Tx, after string, limit int) (string, []string, error) {
	var wrong []string
	for range limit {
		next, err := o.nextInLine(tx, after)
		if err != nil || next == "" {
			return "", wrong, err
		}
		after = next
		d, err := o.derive(tx, after)
		if err != nil {
			return after, wrong, err
		}
		if d.turn != d.stored {
			wrong = append(wrong, after)
		}
	}
	return after, wrong, nil
}

// nextInLine is the first address after one for which something waits, or that is remembered.
func (o *Outbox) nextInLine(tx database.Tx, after string) (string, error) {
	var waiting, known sql.NullString
	err := tx.QueryRow(`SELECT (SELECT min(address) FROM outbox INDEXED BY outbox_waiting WHERE channel = ?1
			AND state = 'pending' AND address IS NOT NULL AND address > ?2),
		(SELECT min(address) FROM notifier_recipients WHERE channel = ?1 AND address > ?2)`, o.channel, after).Scan(&waiting, &known)
	if err != nil {
		return "", err
	}
	switch {
	case !waiting.Valid:
		return known.String, nil
	case !known.Valid:
		return waiting.String, nil
	}
	return min(waiting.String, known.String), nil
}
