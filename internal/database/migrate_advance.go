package database

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A slice should keep the write lock about as long as this, so that a kill costs little.
const (
	sliceTime    = 40 * time.Millisecond
	rowsAtFirst  = 200
	rowsAtMost   = 20000
	partsOfShare = 1000
)

// marker is the one row of notifier_migration: how far a migration has come. The table is there
// while a migration is under way.
type marker struct {
	step        int   // which step is next
	low         int64 // the first key of its next slice
	done, total int64 // how many of its rows are behind, and how many there are
}

// words say what comes next.
func (at marker) words(steps []step) string {
	if at.step == len(steps) {
		return "done"
	}
	return steps[at.step].name
}

// shares is how much of the script is behind.
func (at marker) shares(steps []step) int64 {
	sum := shares(steps[:at.step])
	if at.total > 0 {
		sum += steps[at.step].share * partsOfShare * min(at.done, at.total) / at.total
	}
	return sum
}

// createMarker begins a migration. The sentence in place of the version is what a program reads,
// and tells, that wants to open the file meanwhile; version 2 of notifier does so too.
const createMarker = `
CREATE TABLE notifier_migration (
    base    INTEGER NOT NULL, -- the version from which it began
    version INTEGER NOT NULL, -- the version to which it goes
    began   INTEGER NOT NULL, -- when
    step    INTEGER NOT NULL, -- which step comes next, from 0
    low     INTEGER NOT NULL, -- the keys of the present slice
    high    INTEGER NOT NULL DEFAULT 0,
    done    INTEGER NOT NULL DEFAULT 0, -- how many rows of this step are behind
    total   INTEGER NOT NULL DEFAULT 0, -- and how many there are
    writing INTEGER NOT NULL DEFAULT 0  -- 1 inside the migration's own transactions
);
INSERT INTO notifier_migration (base, version, began, step, low) VALUES (%d, %d, %d, 0, %d);
UPDATE notifier_schema SET version = 'a migration to version %[2]d is under way: run ` + "`notifier migrate`" + ` again, with the newer notifier, and wait until it has ended';
`

// advance does the next slice, or the next step that has none, in a transaction of its own. What
// it returns is how far the migration is then.
func (m *migration) advance(from, to int, steps []step) (at marker, err error) {
	if err := m.exec("BEGIN IMMEDIATE"); err != nil {
		return at, err
	}
	at, err = m.inTransaction(from, to, steps)
	if err == nil {
		err = m.exec("COMMIT")
	}
	if err != nil {
		_ = m.exec("ROLLBACK") // which fails after an error that has rolled back already
	}
	return at, err
}

func (m *migration) inTransaction(from, to int, steps []step) (at marker, err error) {
	found, err := m.c.schemaVersion()
	switch {
	case err != nil:
		return at, err
	case found.target == 0 && found.version == from:
		err := m.exec(fmt.Sprintf(createMarker, from, to, time.Now().UnixMilli(), math.MinInt64))
		if err != nil {
			return at, err
		}
	case found.target != to:
		return at, errors.New("another process has changed its version meanwhile")
	}
	err = m.scan(`SELECT step, low, done, total FROM notifier_migration`, &at.step, &at.low, &at.done, &at.total)
	if err != nil {
		return at, err
	}
	if at.step >= len(steps) {
		return at, fmt.Errorf("it stands at step %d of %d: was it begun by another program?", at.step, len(steps))
	}
	s := steps[at.step]
	if s.table == "" {
		err, at = m.whole(s), marker{step: at.step + 1, low: math.MinInt64}
	} else {
		at, err = m.slice(s, at)
	}
	if err != nil {
		return at, fmt.Errorf("%s: %w", s.name, err)
	}
	if at.step == len(steps) {
		return at, m.exec(fmt.Sprintf("DROP TABLE notifier_migration; UPDATE notifier_schema SET version = %d", to))
	}
	return at, m.exec(fmt.Sprintf(`UPDATE notifier_migration SET writing = 0, step = %d, low = %d, done = %d, total = %d`,
		at.step, at.low, at.done, at.total))
}

// whole does a step that has no slices.
func (m *migration) whole(s step) error {
	if err := m.exec("UPDATE notifier_migration SET writing = 1"); err != nil {
		return err
	}
	if s.carry == "" {
		return m.exec(s.sql)
	}
	others, err := m.takeOff(s.carry)
	if err == nil {
		err = m.exec(s.sql)
	}
	if err == nil {
		err = m.putOn(s.carry, others)
	}
	return err
}

// slice does the next slice of a step, and finds out how many rows the one after it may have.
func (m *migration) slice(s step, at marker) (marker, error) {
	if at.total == 0 {
		if err := m.scan(`SELECT count(*) FROM `+s.table, &at.total); err != nil {
			return at, err
		}
	}
	began := time.Now()
	var n, high int64
	err := m.scan(fmt.Sprintf(`SELECT count(*), coalesce(max(k), 0) FROM
		(SELECT %[2]s AS k FROM %[1]s WHERE %[2]s >= %[3]d ORDER BY %[2]s LIMIT %[4]d)`, s.table, s.key, at.low, m.rows), &n, &high)
	if err != nil {
		return at, err
	}
	if n > 0 {
		err := m.exec(fmt.Sprintf("UPDATE notifier_migration SET writing = 1, low = %d, high = %d;\n%s", at.low, high, s.sql))
		if err != nil {
			return at, err
		}
	}
	if n < m.rows || high == math.MaxInt64 {
		m.rows = rowsAtFirst
		return marker{step: at.step + 1, low: math.MinInt64}, nil
	}
	if took := time.Since(began); took > 0 {
		m.rows = min(2*m.rows, rowsAtMost, max(1, m.rows*int64(sliceTime)/int64(took)))
	}
	at.low, at.done = high+1, at.done+n
	return at, nil
}

func (m *migration) exec(script string) error {
	return m.c.script(context.Background(), script)
}

func (m *migration) scan(query string, dest ...any) error {
	return m.c.row(query, nil, dest...)
}
