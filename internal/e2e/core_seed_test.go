package e2e

import (
	"context"
	"database/sql"
	"testing"
	"time"
)

// seedSent puts n sent messages of an hour ago into a database that no service has open. They are
// for chats 1 to n, so that no two have one recipient.
func seedSent(t *testing.T, path string, n int) {
	t.Helper()
	seedEnded(t, path, n, "sent", nil)
}

// seedEnded is seedSent for any state in which a message has ended, with its reason. The rows are what
// the program itself leaves behind, in version 2 and in version 3 of the schema.
func seedEnded(t *testing.T, path string, n int, state string, reason any) {
	t.Helper()
	seed(t, path, func(tx *sql.Tx, version int) error {
		// Version 3 says where a message went in a column that it must have once it has ended, what
		// its age counts from, and keeps a table of counts.
		went, values := "sent_to", "CAST(n AS TEXT)"
		if version >= 3 {
			went, values = "address, age_from", "CAST(n AS TEXT), ?4"
		}
		_, err := tx.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?1)
			INSERT INTO outbox (recipient, type, payload, created_at, state, reason, ended_at, `+went+`)
			SELECT CAST(n AS TEXT), 'Text', json_object('text', printf('seeded %d %.*c', n, 300, 'x')),
				?4, ?2, ?3, ?4 + 1000, `+values+` FROM i`, n, state, reason, time.Now().Add(-time.Hour).UnixMilli())
		if err != nil || version < 3 {
			return err
		}
		_, err = tx.Exec(`INSERT INTO notifier_counts (channel, kind, state, reason, n) VALUES ('telegram', 'message', ?, coalesce(?, ''), ?)
			ON CONFLICT (channel, kind, state, reason) DO UPDATE SET n = n + excluded.n`, state, reason, n)
		return err
	})
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
