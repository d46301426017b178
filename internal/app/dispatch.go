package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// standbyLook is how often Dispatch, while another process sends, looks whether that has anything
// left, when nothing changes in the database.
const standbyLook = time.Second

// WorkLeftError says that something is due and cannot be sent now, and why.
type WorkLeftError struct{ err error }

func (e *WorkLeftError) Error() string { return e.err.Error() }
func (e *WorkLeftError) Unwrap() error { return e.err }

// Dispatch sends what is due in one pass, or with untilEmpty in passes until nothing is due, and
// writes to out what it did. When something is left its error is a *WorkLeftError. Where another
// process sends it sends nothing; with untilEmpty it waits until that one has nothing due.
func (a *App) Dispatch(ctx context.Context, untilEmpty bool, out io.Writer) error {
	lock, err := a.db.TryLock()
	var held *database.HeldError
	if errors.As(err, &held) {
		fmt.Fprintf(out, "Nothing to do here: %v.\n", held)
		if !untilEmpty {
			return nil
		}
		lock, err = a.awaitOther(ctx)
		if lock == nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the process ends anyway, and the lock with it
	a.lock.Store(lock)
	defer a.lock.Store(nil)
	a.takeWaiting(ctx)
	return a.passes(ctx, untilEmpty, out)
}

// awaitOther waits until another process's sender has nothing due, or until it ends: then it
// returns the lock.
func (a *App) awaitOther(ctx context.Context) (*database.SenderLock, error) {
	changes, stop := a.db.Watch()
	defer stop()
	for {
		lock, err := a.db.TryLock()
		var held *database.HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		rest, err := a.leftToOther(ctx)
		if rest == nil || err != nil {
			return nil, err
		}
		if rest.State != outbox.SenderRunning {
			return nil, &WorkLeftError{fmt.Errorf("work remains: the sender is %s: %s", rest.State, rest.Reason)}
		}
		if !awaitChange(ctx, changes, standbyLook) {
			return nil, &WorkLeftError{ctx.Err()}
		}
	}
}

// leftToOther is how the sender stands while it has something due or under way, else nil.
func (a *App) leftToOther(ctx context.Context) (*outbox.SenderStatus, error) {
	var status *outbox.SenderStatus
	err := a.db.Read(ctx, func(tx database.Tx) error {
		now := time.Now()
		due, err := a.box.OldestDue(tx, now)
		if err != nil {
			return err
		}
		open, err := a.box.Messages(tx, outbox.Filter{State: outbox.StateSending, Limit: 1})
		if err != nil || (due.IsZero() && len(open) == 0) {
			return err
		}
		s, err := a.senderStatus(tx, now)
		status = &s
		return err
	})
	return status, err
}
