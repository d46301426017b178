package database

import (
	"context"
	"time"
)

// Work on many rows shares the one writer with orders, so it goes in steps that take about as
// long as an order does.
const (
	stepTime    = 2 * time.Millisecond
	stepAtFirst = 50
	stepAtLeast = 10
	stepAtMost  = 2000
)

// InSteps repeats a write that deals with at most limit rows, until it deals with fewer, and
// returns how many it was in all. What was done remains when ctx ends it.
func (db *DB) InSteps(ctx context.Context, step func(tx Tx, limit int) (int, error)) (int, error) {
	total, limit := 0, stepAtFirst
	for {
		n := 0
		var took time.Duration
		whole := time.Now()
		err := db.Write(ctx, func(tx Tx) (err error) {
			began := time.Now()
			n, err = step(tx, limit)
			took = time.Since(began)
			return err
		})
		if err != nil {
			return total, err
		}
		total += n
		if n < limit {
			return total, nil
		}
		if err := leaveRoom(ctx, time.Since(whole)); err != nil {
			return total, err
		}
		if took > stepTime {
			limit = max(stepAtLeast, limit/2)
		} else {
			limit = min(stepAtMost, limit+limit/2)
		}
	}
}

// leaveRoom leaves the write lock alone for as long as it was just held. A program that waits for it
// does not queue but looks every now and then, and so finds it free every other time.
func leaveRoom(ctx context.Context, held time.Duration) error {
	timer := time.NewTimer(held)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
