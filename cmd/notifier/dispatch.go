package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

type dispatchCmd struct {
	UntilEmpty bool `help:"Make passes until nothing is due."`
}

// standbyLook is how often a dispatch that waits for another process's sender looks, when nothing
// changes in the database.
const standbyLook = time.Second

// Run sends what is due.
func (c *dispatchCmd) Run(ctx context.Context, p *program) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	h, err := build(ctx, s, newLog(p.stderr, s.LogLevel, s.LogFormat))
	if err != nil {
		return err
	}
	defer h.close()
	d, err := h.addSender(false)
	if err != nil {
		return err
	}
	lock, err := h.db.TryLock()
	var held *database.HeldError
	if errors.As(err, &held) {
		fmt.Fprintf(p.stdout, "Nothing to do here: %v.\n", held)
		if !c.UntilEmpty {
			return nil
		}
		lock, err = h.awaitOther(ctx)
		if lock == nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the process ends anyway, and the lock with it
	h.takeWaiting(ctx)
	return c.passes(ctx, p.stdout, h, d)
}

// awaitOther waits until another process's sender has nothing due, or until it ends: then it
// returns the lock.
func (h *house) awaitOther(ctx context.Context) (*database.SenderLock, error) {
	changes, stop := h.db.Watch()
	defer stop()
	for {
		lock, err := h.db.TryLock()
		var held *database.HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		rest, err := h.leftToOther(ctx)
		if rest == nil || err != nil {
			return nil, err
		}
		if rest.State != outbox.SenderRunning {
			return nil, &codedError{exitWorkLeft, fmt.Errorf("work remains: the sender is %s: %s", rest.State, rest.Reason)}
		}
		timer := time.NewTimer(standbyLook)
		select {
		case <-changes:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, &codedError{exitWorkLeft, ctx.Err()}
		}
		timer.Stop()
	}
}

// leftToOther is how the sender stands while it has something due or under way, else nil.
func (h *house) leftToOther(ctx context.Context) (*outbox.SenderStatus, error) {
	var status *outbox.SenderStatus
	err := h.db.Read(ctx, func(tx database.Tx) error {
		now := time.Now()
		due, err := h.box.OldestDue(tx, now)
		if err != nil {
			return err
		}
		open, err := h.box.Messages(tx, outbox.Filter{State: outbox.Sending, Limit: 1})
		if err != nil || (due.IsZero() && len(open) == 0) {
			return err
		}
		s, err := h.box.Status(tx, now)
		status = &s
		return err
	})
	return status, err
}
