package database

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// oldFile makes a file as an older version made it, and runs statements on it.
func oldFile(t testing.TB, version int, statements ...string) string {
	t.Helper()
	schema, err := os.ReadFile(fmt.Sprintf("testdata/schema-%d.sql", version))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	rawExec(t, path, append([]string{"PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", string(schema)}, statements...)...)
	return path
}

// rawExec runs statements on a file as another program does.
func rawExec(t testing.TB, path string, statements ...string) {
	t.Helper()
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	for _, s := range statements {
		if _, err := raw.Exec(s); err != nil {
			t.Fatalf("%v in %.300s", err, s)
		}
	}
}

func rawOpen(t testing.TB, path string) *sql.DB {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	return raw
}

// fill gives the messages of a shop to a file of version 2, in all states: a chat for every five of
// them, of which some are reached through a customer, dead, doubtful or gated.
func fill(messages int) []string {
	now := time.Now().UnixMilli()
	chats := messages/5 + 1
	const series = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `
	return []string{
		`INSERT INTO notifier_senders (channel, identity, mark) VALUES ('telegram', '4242', 9)`,
		fmt.Sprintf(series+`INSERT INTO notifier_recipients (channel, address, state, reason, gate_until, gate_wait, doubt_until, doubt_wait, epoch, mark, accepted)
			SELECT 'telegram', 700000000 + i, CASE i %% 29 WHEN 3 THEN 'dead' WHEN 4 THEN 'doubtful' ELSE 'open' END,
				CASE i %% 29 WHEN 3 THEN 'stopped' END, CASE i %% 31 WHEN 5 THEN %[2]d + i END, CASE i %% 31 WHEN 5 THEN 60000 END,
				CASE i %% 29 WHEN 4 THEN %[2]d + 2 * i END, CASE i %% 29 WHEN 4 THEN 90000 END, i %% 7, i %% 3, i %% 2
			FROM n WHERE i %% 3 > 0`, chats, now),
		fmt.Sprintf(series+`INSERT INTO notifier_recipients (channel, address, alias_of)
			SELECT 'telegram', 'customer:c-' || i, 700000000 + i FROM n WHERE i %% 4 = 1`, chats),
		fmt.Sprintf(series+`INSERT INTO outbox (idempotency_key, recipient, type, payload, subject, collapse_key, not_before, expires_at,
				created_at, state, reason, detail, failures, doubts, retry_at, retry_wait, age_from, remote_id, sent_to, ended_at, blanked_at)
			SELECT CASE WHEN i %% 5 > 0 THEN printf('%%08x-key-%%d', (i * 2654435761) %% 4294967296, i) END,
				CASE WHEN c %% 4 IN (1, 2) THEN 'customer:c-' || c ELSE CAST(700000000 + c AS TEXT) END,
				CASE i %% 3 WHEN 0 THEN 'Text' ELSE 'OrderPaid' END,
				json_object('orderId', i, 'number', 'A-' || i, 'customerName', 'Somebody Somewhere', 'locale', 'en',
					'currency', 'EUR', 'totalCents', 1999, 'items', json_array(json_object('name', 'A thing', 'quantity', 2))),
				CASE i %% 10 WHEN 0 THEN NULL WHEN 1 THEN 'answer:' || i WHEN 6 THEN 'answer:' || i ELSE 'order:' || i END,
				CASE i %% 17 WHEN 2 THEN 'k' || (i %% 5) END,
				CASE i %% 23 WHEN 1 THEN %[2]d + 86400000 + i WHEN 2 THEN %[2]d - 86400000 END,
				CASE i %% 19 WHEN 1 THEN %[2]d + 604800000 END,
				%[2]d - 3600000 + (i * 104729) %% 7200000,
				s, CASE s WHEN 'dead' THEN 'rejected' WHEN 'canceled' THEN 'superseded' END,
				CASE s WHEN 'dead' THEN 'Bad Request: it is too long' END, i %% 3, i %% 2,
				CASE WHEN s = 'pending' AND i %% 11 = 0 THEN %[2]d + 5000 + i %% 1000 END, CASE WHEN s = 'pending' AND i %% 11 = 0 THEN 5000 END,
				CASE i %% 13 WHEN 0 THEN %[2]d + i END, CASE s WHEN 'sent' THEN i END,
				CASE s WHEN 'sent' THEN CAST(700000000 + c + i %% 2 AS TEXT) END,
				CASE WHEN s NOT IN ('pending', 'sending') THEN %[2]d - i END,
				CASE WHEN s = 'sent' AND i %% 41 = 0 THEN %[2]d END
			FROM (SELECT i, 1 + (i * 7919) %% %[3]d AS c,
				CASE WHEN i %% 10 < 5 THEN 'sent' WHEN i %% 50 = 7 THEN 'dead' WHEN i %% 50 = 8 THEN 'canceled' WHEN i %% 50 = 9 THEN 'uncertain'
					WHEN i %% 211 = 6 THEN 'sending' ELSE 'pending' END AS s FROM n)`, messages, now, chats),
		`INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at, ended_at, result)
			SELECT channel, id, coalesce(sent_to, recipient), 0, created_at, ended_at, CASE WHEN ended_at IS NULL THEN 'open' ELSE 'accepted' END
			FROM outbox WHERE state IN ('sent', 'sending')`,
	}
}
