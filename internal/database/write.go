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
	if err := fn(writeTx{db.writer}); err != nil {
		return err
	}
	if err := db.writer.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	done = true
	return nil
}

func (db *DB) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // a select would choose at random
		return fmt.Errorf("wait for a turn to write: %w", err)
	}
	select {
	case <-db.turn:
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn to write: %w", ctx.Err())
	}
	db.fairness.pause()
	return nil
}

func (db *DB) release() { db.turn <- struct{}{} }

// Read runs fn in a transaction that sees one state of the database from beginning to end and
// cannot write. ctx ends only the waiting for a free connection.
func (db *DB) Read(ctx context.Context, fn func(Tx) error) error {
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return fmt.Errorf("wait for a connection to read: %w", explain(err))
	}
	defer conn.Close() //nolint:errcheck // it only goes back to the pool
	tx, err := conn.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("begin to read: %w", explain(err))
	}
	defer tx.Rollback() //nolint:errcheck // a read has nothing to undo
	return fn(readTx{tx})
}

// writeTx uses the prepared statements of the writing connection.
type writeTx struct{ c *connection }

func (t writeTx) Exec(query string, args ...any) (sql.Result, error) {
	s, err := t.c.statement(query)
	if err != nil {
		return nil, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	return r, explain(err)
}

func (t writeTx) Query(query string, args ...any) (Rows, error) {
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

func (t writeTx) QueryRow(query string, args ...any) Row {
	s, err := t.c.statement(query)
	if err != nil {
		return failedRow{err}
	}
	return explainedRow{s.QueryRowContext(context.Background(), args...)}
}

// readTx reads through one transaction of the readers' pool.
type readTx struct{ tx *sql.Tx }

func (t readTx) Exec(query string, args ...any) (sql.Result, error) {
	r, err := t.tx.ExecContext(context.Background(), query, args...)
	return r, explain(err)
}

func (t readTx) Query(query string, args ...any) (Rows, error) {
	r, err := t.tx.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, explain(err)
	}
	return r, nil
}

func (t readTx) QueryRow(query string, args ...any) Row {
	return explainedRow{t.tx.QueryRowContext(context.Background(), query, args...)}
}

// explainedRow names the errors of a row as all others are named.
type explainedRow struct{ row *sql.Row }

func (r explainedRow) Scan(dest ...any) error { return explain(r.row.Scan(dest...)) }

// failedRow is the Row of a query that could not be prepared.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }
