package database

import (
	"context"
	"database/sql"
	"fmt"
	"time"
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
	Attach(key any, make func() Finisher) Finisher
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

// Write runs fn in a transaction that can write, and commits it. When fn fails, nothing of it
// remains and its error is returned as it is. When Write returns nil, the commit is on disk.
//
// Writes run one after another. ctx ends only the waiting for one's turn: once fn runs, it and
// its commit are carried through. fn must not keep its Tx, must not call Write, and may run
// inside a savepoint of a larger transaction.
func (db *DB) Write(ctx context.Context, fn func(Tx) error) error {
	if err := db.take(ctx); err != nil {
		return err
	}
	defer db.release()
	began := time.Now()
	if err := db.writer.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := db.run(fn)
	db.fairness.held(began, time.Now())
	db.noteFull(err)
	return err
}

// run is the part of a Write between BEGIN and its end. A panic of fn rolls back and goes on.
func (db *DB) run(fn func(Tx) error) error {
	done := false
	defer func() {
		if !done {
			// After some errors, such as a full disk, SQLite has rolled back itself; then this
			// fails, and there is nothing left to undo.
			_ = db.writer.exec("ROLLBACK")
		}
	}()
	if err := db.noticeForeign(); err != nil {
		return err
	}
	tx := &writeTx{c: db.writer}
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.finish(); err != nil {
		return err
	}
	if err := db.writer.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	done = true
	// Asked before it, the files could go in between, and nobody would find what was committed.
	return db.files.check()
}

func (db *DB) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // a select would choose at random
		return fmt.Errorf("wait for a turn to write: %w", err)
	}
	select {
	case <-db.turn:
	case <-db.over:
		return errClosed
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
		return errClosed
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
func (t *writeTx) Attach(key any, make func() Finisher) Finisher {
	if f, ok := t.attached[key]; ok {
		return f
	}
	if t.attached == nil {
		t.attached = map[any]Finisher{}
	}
	f := make()
	t.attached[key] = f
	t.order = append(t.order, f)
	return f
}

func (t *writeTx) finish() error {
	for i := 0; i < len(t.order); i++ { // one may attach another
		if err := t.order[i].Finish(t); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) Exec(query string, args ...any) (sql.Result, error) {
	s, err := t.c.statement(query)
	if err != nil {
		return nil, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	return r, explain(err)
}

func (t *writeTx) Query(query string, args ...any) (Rows, error) {
	s, err := t.c.statement(query)
	if err != nil {
		return nil, err
	}
	r, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return nil, explain(err)
	}
	return r, nil
}

func (t *writeTx) QueryRow(query string, args ...any) Row {
	s, err := t.c.statement(query)
	if err != nil {
		return failedRow{err}
	}
	return explainedRow{s.QueryRowContext(context.Background(), args...)}
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
	s, err := t.c.statement(query)
	if err != nil {
		return nil, err
	}
	r, err := s.ExecContext(t.ctx, args...)
	return r, explain(err)
}

func (t readTx) Query(query string, args ...any) (Rows, error) {
	s, err := t.c.statement(query)
	if err != nil {
		return nil, err
	}
	r, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return nil, explain(err)
	}
	return r, nil
}

func (t readTx) QueryRow(query string, args ...any) Row {
	s, err := t.c.statement(query)
	if err != nil {
		return failedRow{err}
	}
	return explainedRow{s.QueryRowContext(t.ctx, args...)}
}

// explainedRow names the errors of a row as all others are named.
type explainedRow struct{ row *sql.Row }

func (r explainedRow) Scan(dest ...any) error { return explain(r.row.Scan(dest...)) }

// failedRow is the Row of a query that could not be prepared.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }
