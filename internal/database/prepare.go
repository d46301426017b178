package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// VersionError says that the database has another schema version than this program works with.
type VersionError struct{ Database, Program int }

// Error implements error and says what helps.
func (e *VersionError) Error() string {
	if e.Database > e.Program {
		return fmt.Sprintf("it has schema version %d, and this program knows versions up to %d: "+
			"install the newer notifier again, or restore a backup from before the upgrade; nothing was changed",
			e.Database, e.Program)
	}
	return fmt.Sprintf("it has schema version %d, and this program needs version %d: run `notifier migrate`; nothing was changed",
		e.Database, e.Program)
}

// errForeignOutbox: there is a table of the one name that we do not prefix, and it is not ours.
var errForeignOutbox = errors.New("it already has a table `outbox` that is not notifier's: " +
	"rename that table, or give notifier a file of its own; nothing was changed")

// errNoTables: there is a file, and nothing of ours in it.
var errNoTables = errors.New("it has no tables of notifier: `notifier serve` creates them, if this is the right file; nothing was changed")

// prepare brings the database into the state in which we work, or refuses it untouched.
func (db *DB) prepare(ctx context.Context, schema string, version int) error {
	found, err := db.writer.schemaVersion()
	if err != nil {
		return err
	}
	if found != 0 && found != version {
		return &VersionError{Database: found, Program: version}
	}
	if found == 0 {
		if err := db.writer.refuseForeignOutbox(); err != nil {
			return err
		}
		if !db.mayCreate {
			return errNoTables
		}
		// Only possible before the file has its first page; it lets a purge give space back.
		if err := db.writer.exec("PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	if err := db.writer.useWAL(); err != nil {
		return err
	}
	if found == 0 {
		return db.create(ctx, schema)
	}
	return nil
}

// create runs the schema, unless another process has just done so.
func (db *DB) create(ctx context.Context, schema string) error {
	return db.Write(ctx, func(Tx) error {
		found, err := db.writer.schemaVersion()
		if err != nil || found != 0 {
			return err
		}
		if err := db.writer.refuseForeignOutbox(); err != nil {
			return err
		}
		if _, err := db.writer.conn.ExecContext(context.Background(), schema); err != nil {
			return fmt.Errorf("create the tables: %w", explain(err))
		}
		return nil
	})
}

// schemaVersion is the version the database says it has; 0 when it has none of our tables.
func (c *connection) schemaVersion() (int, error) {
	has, err := c.hasTable("notifier_schema")
	if err != nil || !has {
		return 0, err
	}
	var v int
	err = c.conn.QueryRowContext(context.Background(), "SELECT version FROM notifier_schema").Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errors.New("its table notifier_schema is empty: restore a backup")
	}
	return v, explain(err)
}

func (c *connection) refuseForeignOutbox() error {
	has, err := c.hasTable("outbox")
	if err == nil && has {
		return errForeignOutbox
	}
	return err
}

func (c *connection) hasTable(name string) (bool, error) {
	var n int
	err := c.conn.QueryRowContext(context.Background(),
		"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", name).Scan(&n)
	return n > 0, explain(err)
}

// useWAL turns on the write-ahead log. SQLite answers with the mode it really has, for instance
// on a file system that cannot share memory.
func (c *connection) useWAL() error {
	var mode string
	if err := c.conn.QueryRowContext(context.Background(), "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return explain(err)
	}
	if mode != "wal" {
		return fmt.Errorf("its file system does not support SQLite's write-ahead log (mode is %q): put it on a local disk", mode)
	}
	return nil
}
