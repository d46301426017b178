package outbox

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"notifier/internal/database"
)

// tellStatus writes what holds up the whole channel when that has changed, so that other
// processes can say it. The gate and a person's pause are stored where they are set.
func (d *Dispatcher) tellStatus(ctx context.Context, now time.Time) {
	d.noteOutage(now)
	d.storeStatus(ctx, d.machine.status(now, d.box.channel, d.status))
}

func (d *Dispatcher) storeStatus(ctx context.Context, s SenderStatus) {
	if s.State == d.status.State && s.Reason == d.status.Reason && s.Until.Equal(d.status.Until) {
		return
	}
	err := d.db.Write(ctx, func(tx database.Tx) error { return d.box.report(tx, s.State, s.Reason, s.Until) })
	if err != nil {
		d.log.Error("cannot store the sender's state", "err", err)
		return
	}
	d.status = s
}

// tellTrouble makes the error of a pass known at once: nothing is sent while it lasts.
func (d *Dispatcher) tellTrouble(ctx context.Context, cause error) {
	words := cause.Error()
	d.trouble.Store(&words)
	if d.loaded {
		d.storeStatus(ctx, SenderStatus{State: SenderWaiting, Reason: "a pass failed: " + shorten(words)})
	}
}

// Trouble says in words why the last pass failed or what could not be stored; empty when all is
// well. It may be asked from any goroutine.
func (d *Dispatcher) Trouble() string {
	if t := d.trouble.Load(); t != nil {
		return *t
	}
	return ""
}

// ClockDoubt says in words why nothing expires at present, or nothing when all is well. It may be
// asked from any goroutine.
func (d *Dispatcher) ClockDoubt() string {
	if doubt := d.doubt.Load(); doubt != nil {
		return *doubt
	}
	return (&Clock{}).Doubt()
}

// tellClock keeps ClockDoubt up to date.
func (d *Dispatcher) tellClock() {
	doubt := d.clock.Doubt()
	d.doubt.Store(&doubt)
}

// Outage is since when the channel has not been reachable, as this dispatcher has seen it; zero
// when it is. It may be asked from any goroutine.
func (d *Dispatcher) Outage() time.Time {
	if since := d.outage.Load(); since != nil {
		return *since
	}
	return time.Time{}
}

// noteOutage keeps Outage up to date.
func (d *Dispatcher) noteOutage(now time.Time) {
	switch out := d.machine.breaker.Open() && !d.machine.breaker.Stopped(); {
	case !out:
		d.outage.Store(nil)
	case d.outage.Load() == nil:
		d.outage.Store(&now)
	}
}

// title is the channel's name as people write it.
func (o *Outbox) title() string { return strings.ToUpper(o.channel[:1]) + o.channel[1:] }

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
