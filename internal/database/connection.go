package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// statementsKept bounds the cache of prepared statements; ours are a fixed set well below it.
const statementsKept = 256

// connection is one connection with its prepared statements. It drives the driver directly:
// database/sql would cost as much again as SQLite's own work on a statement. The one that
// writes (BEGIN IMMEDIATE, COMMIT) never sees a caller's context: the driver answers a cancelled
// context by interrupting whatever the connection does at that moment, for whomever.
type connection struct {
	conn       driver.Conn
	statements map[string]*statement
	noted      func(query string) // see WithStatementLog; may be nil
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

func connect(path string, pragmas ...string) (*connection, error) {
	pool, err := sql.Open("sqlite", "") // opens nothing; it only knows the driver
	if err != nil {
		return nil, err
	}
	defer pool.Close() //nolint:errcheck // as above
	conn, err := pool.Driver().Open(dsn(path, pragmas...))
	if err != nil {
		return nil, explain(err)
	}
	return &connection{conn: conn, statements: map[string]*statement{}}, nil
}

func (c *connection) close() error {
	for _, s := range c.statements {
		_ = s.close()
	}
	return c.conn.Close()
}

// statement returns the prepared form of query, from the cache where it can.
func (c *connection) statement(query string) (*statement, error) {
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	if c.noted != nil {
		c.noted(query)
	}
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	if len(c.statements) >= statementsKept {
		for q, old := range c.statements {
			_ = old.close()
			delete(c.statements, q)
		}
	}
	c.statements[query] = s
	return s, nil
}

// exec runs one statement without arguments.
func (c *connection) exec(query string) error {
	s, err := c.statement(query)
	if err != nil {
		return err
	}
	_, err = s.exec(context.Background(), nil)
	return err
}

// script runs several statements.
func (c *connection) script(ctx context.Context, text string, args ...any) error {
	values, err := driverValues(args)
	if err != nil {
		return err
	}
	_, err = c.conn.(driver.ExecerContext).ExecContext(ctx, text, values) //nolint:forcetypeassert // SQLite's driver has it
	return explain(err)
}

// row reads the only row of a query.
func (c *connection) row(query string, args []any, dest ...any) error {
	s, err := c.statement(query)
	if err != nil {
		return err
	}
	return s.row(context.Background(), args).Scan(dest...)
}

// dataVersion changes when somebody other than this connection has committed
// (https://www.sqlite.org/pragma.html#pragma_data_version).
func (c *connection) dataVersion() (int64, error) {
	var v int64
	err := c.row("PRAGMA data_version", nil, &v)
	return v, err
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

// Refused says whether a CHECK of the schema refused a row, so that the row itself is at fault and
// not the database (https://www.sqlite.org/rescode.html#constraint_check).
func Refused(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_CHECK
}

// explain turns the driver's "busy" into ErrBusy and leaves other errors alone.
func explain(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("%w (%s)", ErrBusy, strings.TrimSpace(e.Error()))
	}
	return err
}
