package database

import (
	"context"
	"database/sql"
	"fmt"
)

// Tx is what a function given to Write or Read may do. It is good only until that function
// returns, and only on its goroutine. A result of Query must be closed before the next call.
type Tx interface {
	Exec(query string, args ...any) (sql.Result, error)
	Query(query string, args ...any) (Rows, error)
	QueryRow(query string, args ...any) Row
	// Attach returns what belongs to key in this transaction; the first call makes it. Its Finish
	// runs after the function given to Write has succeeded and before the commit. Reads have no
	// end to finish: there it panics.
	Attach(key any, begin func() Finisher) Finisher
}

// Finisher is what a Tx keeps for the packages that write in it, until its end.
type Finisher interface {
	// Finish does what has to be done once, after everything else. It may call Attach.
	Finish(Tx) error
}

// Rows is the result of a Query.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Row is the result of a QueryRow. Its error without a row is sql.ErrNoRows.
type Row interface {
	Scan(dest ...any) error
}

func (db *DB) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // a select would choose at random
		return fmt.Errorf("wait for a turn to write: %w", err)
	}
	select {
	case <-db.turn:
	case <-db.over:
		return fmt.Errorf("write: %w", errClosed)
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn to write: %w", ctx.Err())
	}
	db.fairness.pause()
	return nil
}

func (db *DB) release() { db.turn <- struct{}{} }

// Read runs fn in a transaction that sees one state of the database from beginning to end and
// cannot write. ctx ends the waiting for a free connection, and each statement under way.
func (db *DB) Read(ctx context.Context, fn func(Tx) error) error {
	var c *connection
	select {
	case c = <-db.readers:
	case <-db.over:
		return fmt.Errorf("read: %w", errClosed)
	case <-ctx.Done():
		return fmt.Errorf("wait for a connection to read: %w", ctx.Err())
	}
	defer func() { db.readers <- c }()
	if err := c.exec("BEGIN"); err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	defer c.exec("ROLLBACK") //nolint:errcheck // a read has nothing to undo
	return fn(readTx{c, ctx})
}

// writeTx uses the prepared statements of the writing connection.
type writeTx struct {
	c        *connection
	attached map[any]Finisher
	order    []Finisher // in which they were attached, and finish
}

// Attach implements Tx.
func (t *writeTx) Attach(key any, begin func() Finisher) Finisher {
	if f, ok := t.attached[key]; ok {
		return f
	}
	if t.attached == nil {
		t.attached = map[any]Finisher{}
	}
	f := begin()
	t.attached[key] = f
	t.order = append(t.order, f)
	return f
}

func (t *writeTx) finish() error {
	for len(t.order) > 0 { // one may attach another
		f := t.order[0]
		t.order = t.order[1:]
		if err := f.Finish(t); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) Exec(query string, args ...any) (sql.Result, error) {
	return t.c.execute(context.Background(), query, args)
}

func (t *writeTx) Query(query string, args ...any) (Rows, error) {
	return t.c.query(context.Background(), query, args)
}

func (t *writeTx) QueryRow(query string, args ...any) Row {
	return t.c.queryRow(context.Background(), query, args)
}

// readTx uses the prepared statements of one reading connection, and ends with a caller's context.
type readTx struct {
	c   *connection
	ctx context.Context //nolint:containedctx // a readTx lives within one call of Read
}

// Attach implements Tx.
func (readTx) Attach(any, func() Finisher) Finisher {
	panic("database: a read changes nothing, so it has nothing to finish")
}

func (t readTx) Exec(query string, args ...any) (sql.Result, error) {
	return t.c.execute(t.ctx, query, args)
}

func (t readTx) Query(query string, args ...any) (Rows, error) { return t.c.query(t.ctx, query, args) }

func (t readTx) QueryRow(query string, args ...any) Row { return t.c.queryRow(t.ctx, query, args) }

func (c *connection) execute(ctx context.Context, query string, args []any) (sql.Result, error) {
	s, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	return s.exec(ctx, args)
}

func (c *connection) query(ctx context.Context, query string, args []any) (Rows, error) {
	s, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	r, err := s.query(ctx, args)
	if err != nil {
		return nil, err // not r: a nil *rows would be a Rows that is not nil
	}
	return r, nil
}

func (c *connection) queryRow(ctx context.Context, query string, args []any) Row {
	s, err := c.statement(query)
	if err != nil {
		return failedRow{err}
	}
	return s.row(ctx, args)
}
