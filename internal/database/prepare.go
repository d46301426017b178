package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// VersionError says that the database has another schema version than this program works with.
type VersionError struct {
	Database, Program int
	Target            int // where a migration goes that is under way or was stopped on its way, or 0
}

// Error implements error and says what helps.
func (e *VersionError) Error() string {
	switch {
	case e.Target > e.Program:
		return fmt.Sprintf("a migration to version %d is under way, or was stopped on its way, and this program knows versions up to %d: "+
			"run `notifier migrate` of the newer notifier again; nothing was changed", e.Target, e.Program)
	case e.Target != 0:
		return fmt.Sprintf("a migration to version %d is under way, or was stopped on its way: "+
			"run `notifier migrate` again; nothing was changed", e.Target)
	case e.Database > e.Program:
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
	if !found.settled(version) {
		return found.refusal(version)
	}
	fresh := found.version == 0
	if fresh {
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
	if fresh {
		return db.create(ctx, schema)
	}
	return nil
}

// create runs the schema, unless another process has just done so.
func (db *DB) create(ctx context.Context, schema string) error {
	return db.Write(ctx, func(Tx) error {
		found, err := db.writer.schemaVersion()
		if err != nil || found.version != 0 {
			return err
		}
		if err := db.writer.refuseForeignOutbox(); err != nil {
			return err
		}
		if err := db.writer.script(context.Background(), schema); err != nil {
			return fmt.Errorf("create the tables: %w", explain(err))
		}
		return nil
	})
}

// stored is what a database says about its schema.
type stored struct {
	version int // 0 when it has none of our tables; during a migration, the one it comes from
	target  int // where a migration goes that is under way, or 0
}

// settled says that there is nothing to migrate for a program of this version.
func (s stored) settled(version int) bool {
	return s.target == 0 && (s.version == 0 || s.version == version)
}

// refusal is why a program of this version does not open the database.
func (s stored) refusal(version int) error {
	return &VersionError{Database: s.version, Program: version, Target: s.target}
}

// schemaVersion reads what the database says about its schema.
func (c *connection) schemaVersion() (stored, error) {
	has, err := c.hasTable("notifier_schema")
	if err != nil || !has {
		return stored{}, err
	}
	var v any
	err = c.row("SELECT version FROM notifier_schema", nil, &v)
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, errors.New("its table notifier_schema is empty: restore a backup")
	}
	if err != nil {
		return stored{}, explain(err)
	}
	if n, ok := v.(int64); ok {
		return stored{version: int(n)}, nil
	}
	var s stored
	err = c.row("SELECT base, version FROM notifier_migration", nil, &s.version, &s.target)
	if err != nil {
		return s, fmt.Errorf("its version is %q: %w", v, explain(err))
	}
	return s, nil
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
	err := c.row("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", []any{name}, &n)
	return n > 0, err
}

// useWAL turns on the write-ahead log. SQLite answers with the mode it really has, for instance
// on a file system that cannot share memory.
func (c *connection) useWAL() error {
	var mode string
	if err := c.row("PRAGMA journal_mode = WAL", nil, &mode); err != nil {
		return explain(err)
	}
	if mode != "wal" {
		return fmt.Errorf("its file system does not support SQLite's write-ahead log (mode is %q): put it on a local disk", mode)
	}
	return nil
}
