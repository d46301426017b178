package e2e

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"
)

// seedSent puts n sent messages of an hour ago into a database that no service has open. They are
// for chats 1 to n, so that no two have one recipient.
func seedSent(t *testing.T, path string, n int) {
	t.Helper()
	seedEnded(t, path, n, "sent", nil)
}

// seedEnded is seedSent for any state in which a message has ended, with its reason.
//
// Only the program itself ends messages, so a schema may refuse such rows from others by a trigger.
// The triggers are taken away for the time of the insert, in its transaction, and put back.
func seedEnded(t *testing.T, path string, n int, state string, reason any) {
	t.Helper()
	seed(t, path, func(tx *sql.Tx, version int) error {
		if version < 3 {
			return insertEnded(tx, n, state, reason)
		}
		return withoutTriggers(tx, func() error {
			// Version 3: what the program would have filled in as well (address, hold, ready_at) has
			// defaults, and stands for nothing once a message has ended.
			if err := insertEnded(tx, n, state, reason); err != nil {
				return err
			}
			return countEnded(tx, n, state, reason)
		})
	})
}

func insertEnded(tx *sql.Tx, n int, state string, reason any) error {
	_, err := tx.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?1)
		INSERT INTO outbox (recipient, type, payload, created_at, state, reason, ended_at, sent_to)
		SELECT CAST(n AS TEXT), 'Text', json_object('text', printf('seeded %d %.*c', n, 300, 'x')),
			?4, ?2, ?3, ?4 + 1000, CAST(n AS TEXT) FROM i`, n, state, reason, hourAgo())
	return err
}

// countEnded keeps the table of counts of version 3 true, if this version has one.
func countEnded(tx *sql.Tx, n int, state string, reason any) error {
	var name string
	err := tx.QueryRow(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'notifier_counts'`).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	// TODO(version 3): adapt to the columns of notifier_counts when that schema has settled.
	_, err = tx.Exec(`INSERT INTO notifier_counts (channel, state, reason, n) VALUES ('telegram', ?, coalesce(?, ''), ?)
		ON CONFLICT DO UPDATE SET n = n + excluded.n`, state, reason, n)
	return err
}

// withoutTriggers runs fn in a transaction whose outbox has no triggers, and puts them back.
func withoutTriggers(tx *sql.Tx, fn func() error) error {
	rows, err := tx.Query(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'outbox'`)
	if err != nil {
		return err
	}
	made := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return err
		}
		made[name] = text
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for name := range made {
		if _, err := tx.Exec(`DROP TRIGGER "` + strings.ReplaceAll(name, `"`, `""`) + `"`); err != nil {
			return err
		}
	}
	if err := fn(); err != nil {
		return err
	}
	for _, text := range made {
		if _, err := tx.Exec(text); err != nil {
			return err
		}
	}
	return nil
}

// seedWaiting puts n messages that wait into the database, as any program may. recipient is an
// expression of n, the message's number from 1.
func seedWaiting(t *testing.T, path string, n int, recipient string) {
	t.Helper()
	seed(t, path, func(tx *sql.Tx, _ int) error {
		_, err := tx.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
			INSERT INTO outbox (recipient, type, payload)
			SELECT `+recipient+`, 'Text', json_object('text', printf('waiting %d', n)) FROM i`, n)
		return err
	})
}

// seed runs fn in one transaction, with the version of the schema that the file has.
func seed(t *testing.T, path string, fn func(tx *sql.Tx, version int) error) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(60000)&_pragma=synchronous(off)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // what matters was committed
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing left
	var version int
	if err := tx.QueryRow(`SELECT max(version) FROM notifier_schema`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	if err := fn(tx, version); err != nil {
		t.Fatalf("seed: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
}

func hourAgo() int64 { return time.Now().Add(-time.Hour).UnixMilli() }
