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
	stepAtMost  = 2000
)

// InSteps repeats a write that deals with at most limit rows, until it deals with fewer, and
// returns how many it was in all. What was done remains when ctx ends it.
func (db *DB) InSteps(ctx context.Context, step func(tx Tx, limit int) (int, error)) (int, error) {
	total, limit := 0, stepAtFirst
	for {
		n := 0
		var took time.Duration
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
		if took > stepTime {
			limit = max(1, limit/2)
		} else {
			limit = min(stepAtMost, limit+limit/2)
		}
	}
}
