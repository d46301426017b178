package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// statementsKept bounds the cache of prepared statements; ours are a fixed set well below it.
const statementsKept = 256

// connection is one connection with its prepared statements. It is driven by hand. The one that
// writes (BEGIN IMMEDIATE, COMMIT) never sees a caller's context: the driver answers a cancelled
// context by interrupting whatever the connection does at that moment, for whomever.
type connection struct {
	pool       *sql.DB
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

// dsn names the database file literally and sets the pragmas that every connection must have:
// set through a pool they would reach one of its connections only.
func dsn(path string, pragmas ...string) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
	q.Add("_pragma", "synchronous(FULL)")
	// What is erased is overwritten with zeros, where that costs no extra page to write.
	q.Add("_pragma", "secure_delete(FAST)")
	q.Add("_pragma", fmt.Sprintf("journal_size_limit(%d)", logLimit))
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	// As a URI, so that '?', '#' and '%' in a path are no longer special.
	return (&url.URL{Scheme: "file", Path: path}).String() + "?" + q.Encode()
}

func connect(ctx context.Context, path string, pragmas ...string) (*connection, error) {
	pool, err := sql.Open("sqlite", dsn(path, pragmas...))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return nil, explain(err)
	}
	return &connection{pool: pool, conn: conn, statements: map[string]*sql.Stmt{}}, nil
}

func (c *connection) close() error {
	for _, s := range c.statements {
		_ = s.Close()
	}
	return errors.Join(c.conn.Close(), c.pool.Close())
}

// statement returns the prepared form of query, from the cache where it can.
func (c *connection) statement(query string) (*sql.Stmt, error) {
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	s, err := c.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, explain(err)
	}
	if len(c.statements) >= statementsKept {
		for q, old := range c.statements {
			_ = old.Close()
			delete(c.statements, q)
		}
	}
	c.statements[query] = s
	return s, nil
}

func (c *connection) exec(query string) error {
	s, err := c.statement(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background())
	return explain(err)
}

// dataVersion changes when somebody other than this connection has committed
// (https://www.sqlite.org/pragma.html#pragma_data_version).
func (c *connection) dataVersion() (int64, error) {
	s, err := c.statement("PRAGMA data_version")
	if err != nil {
		return 0, err
	}
	var v int64
	return v, explain(s.QueryRowContext(context.Background()).Scan(&v))
}

// Unavailable tells a database that cannot work at present – locked, full, unreadable, gone – from a
// statement that is wrong (https://www.sqlite.org/rescode.html).
func Unavailable(err error) bool {
	if errors.Is(err, ErrBusy) || errors.Is(err, errFileGone) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}

// explain turns the driver's "busy" into ErrBusy and leaves other errors alone.
func explain(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("%w (%s)", ErrBusy, strings.TrimSpace(e.Error()))
	}
	return err
}
