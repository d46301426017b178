package database

import (
	"context"
	"fmt"
	"time"
)

// Progress is how far a migration has come.
type Progress struct {
	Version     int    // the schema version it is on its way to
	Step        string // what it does at present, in words
	Done, Total int64  // how much of the whole way is done, in shares that take about equally long
}

// Migrate lifts the database at path to version and returns the version it had. script gives the
// steps to each version from the one before it, see parseScript; progress, if not nil, is called
// after each transaction. A database that has the version, or is fresh, is left alone; a newer one
// is refused.
//
// It can be killed at any moment, and goes on from there when it is called again. Until it has
// finished, the version in the file is a sentence instead of a number, so that every program
// refuses the file. It holds the sender's lock, and fails with a *HeldError while another process
// has it. When ctx ends, it stops between two transactions.
func Migrate(ctx context.Context, path string, version int, script func(version int) (string, error),
	progress func(Progress)) (from int, err error) {
	resolved, err := resolve(path)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	c, err := connect(resolved)
	if err != nil {
		return 0, fmt.Errorf("migrate %s: %w", resolved, err)
	}
	defer c.close() //nolint:errcheck // what matters is committed
	found, err := c.schemaVersion()
	if err != nil || found.settled(version) {
		return found.version, wrapMigrate(resolved, err)
	}
	if max(found.version, found.target) > version {
		return found.version, wrapMigrate(resolved, found.refusal(version))
	}
	lock, err := tryLock(resolved)
	if err != nil {
		return found.version, fmt.Errorf("migrate %s: %w: stop it, then run `notifier migrate` again", resolved, err)
	}
	defer lock.Release() //nolint:errcheck // it ends with the process anyway
	m := migration{c: c, progress: progress}
	return found.version, wrapMigrate(resolved, m.climb(ctx, found.version, version, script))
}

func wrapMigrate(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("migrate %s: %w", path, err)
}

// migration is one run of Migrate.
type migration struct {
	c        *connection
	progress func(Progress)
	fairness fairness
	rows     int64 // how many rows the next slice may have
	before   int64 // the shares of the versions that are behind
	total    int64 // the shares of all versions on the way
}

// migrationPragmas: indexes are sorted in this memory instead of files; and renaming our tables
// leaves the text of a shop's views and triggers alone
// (https://www.sqlite.org/pragma.html#pragma_legacy_alter_table).
var migrationPragmas = []string{"cache_size = -65536", "legacy_alter_table = ON", "foreign_keys = OFF"}

// climb goes from one version to the next until it has reached the last.
func (m *migration) climb(ctx context.Context, from, last int, script func(int) (string, error)) error {
	var scripts [][]step
	for next := from + 1; next <= last; next++ {
		text, err := script(next)
		if err != nil {
			return err
		}
		steps, err := parseScript(text)
		if err != nil {
			return fmt.Errorf("to version %d: %w", next, err)
		}
		scripts = append(scripts, steps)
		m.total += shares(steps)
	}
	for _, p := range migrationPragmas {
		if err := m.c.script(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	if err := m.c.useWAL(); err != nil {
		return err
	}
	for i, steps := range scripts {
		if err := m.lift(ctx, from+i, from+i+1, steps); err != nil {
			return fmt.Errorf("to version %d: %w", from+i+1, err)
		}
		m.before += shares(steps)
	}
	return nil
}

// lift takes the file from one version to the next, one transaction after another.
func (m *migration) lift(ctx context.Context, from, to int, steps []step) error {
	m.rows = rowsAtFirst
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped on the way: run `notifier migrate` again to go on: %w", err)
		}
		m.fairness.pause()
		began := time.Now()
		at, err := m.advance(from, to, steps)
		if err != nil {
			return err
		}
		m.fairness.held(began, time.Now())
		if m.progress != nil {
			m.progress(Progress{Version: to, Step: at.words(steps), Done: m.before + at.shares(steps), Total: m.total})
		}
		if at.step == len(steps) {
			return nil
		}
	}
}
