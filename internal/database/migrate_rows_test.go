package database

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table is what a query finds: a row for each key, which is its first column.
type table map[string]map[string]any

// readTable runs a query of which the first column is the key.
func readTable(t testing.TB, raw *sql.DB, query string) table {
	t.Helper()
	rows, err := raw.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // read to its end
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	found := table{}
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, n := range names {
			row[n] = *values[i].(*any)
		}
		found[fmt.Sprint(row[names[0]])] = row
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// copyFile copies a database that nobody has open.
func copyFile(t testing.TB, path string) string {
	t.Helper()
	rawExec(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".before", b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path + ".before"
}

// number is a column's integer, or 0 where it is NULL.
func number(row map[string]any, column string) int64 {
	n, _ := row[column].(int64)
	return n
}

// expectMessage is what a readable row of version 2 becomes, told once more in plain Go.
func expectMessage(old map[string]any, recipients table, now int64) map[string]any {
	m := maps.Clone(old)
	for _, gone := range []string{"retry_at", "retry_wait", "sent_to"} {
		delete(m, gone)
	}
	ended := old["ended_at"] != nil
	address := old["recipient"].(string)
	if r := recipients["telegram "+address]; r != nil && r["alias_of"] != nil {
		address = r["alias_of"].(string)
	}
	dead := recipients["telegram "+address] != nil && recipients["telegram "+address]["state"] == "dead"
	unlinked := strings.HasPrefix(address, "customer:")
	if to, ok := old["sent_to"].(string); ok && ended {
		address = to
	}
	if m["address"] = address; dead && old["state"] == "pending" {
		m["address"] = nil // an arrival
	}
	m["rank"] = int64(1)
	if s, ok := old["subject"].(string); ok && strings.HasPrefix(s, "answer:") {
		m["rank"] = int64(0)
	}
	planned := number(old, "not_before") > now
	m["hold"], m["ready_at"], m["ready_wait"] = int64(0), int64(0), int64(0)
	if !ended {
		from := min(number(old, "created_at"), now)
		if planned {
			m["hold"], from = int64(1), number(old, "not_before")
		}
		if unlinked {
			m["hold"] = int64(2)
		}
		m["ready_at"] = from
		if retry := number(old, "retry_at"); retry >= from {
			m["ready_at"], m["ready_wait"] = retry, number(old, "retry_wait")
		}
	}
	m["age_from"] = max(number(old, "created_at"), number(old, "not_before"), number(old, "age_from"))
	return m
}

// expectRecipient is what a recipient of version 2 becomes, but for its turn.
func expectRecipient(old map[string]any, identity string) map[string]any {
	r := maps.Clone(old)
	delete(r, "mark")
	delete(r, "accepted")
	r["accepted_by"], r["pace_until"], r["pace_wait"] = nil, nil, int64(0)
	if old["accepted"] == int64(1) {
		r["accepted_by"] = identity
	}
	for _, wait := range []string{"gate_wait", "doubt_wait"} {
		r[wait] = number(old, wait)
	}
	return r
}

// turn is when a recipient's next call may be tried, and for which message.
type turn struct{ at, rank, head any }

// turns derives every recipient's turn from the messages that have not ended, and the open attempts.
func turns(messages, recipients, open table) map[string]turn {
	heads, busy := map[string]map[string]any{}, map[string]bool{}
	for _, m := range messages {
		key := m["channel"].(string) + " " + m["address"].(string)
		if m["state"] == "sending" {
			busy[key] = true
		}
		if m["state"] != "pending" || m["hold"] != int64(0) {
			continue
		}
		h := heads[key]
		if h == nil || number(m, "rank") < number(h, "rank") || number(m, "rank") == number(h, "rank") && number(m, "id") < number(h, "id") {
			heads[key] = m
		}
	}
	for _, a := range open {
		busy[a["channel"].(string)+" "+a["address"].(string)] = true
	}
	found := map[string]turn{}
	for key, h := range heads {
		r := recipients[key]
		if busy[key] || r != nil && (r["alias_of"] != nil || r["state"] == "dead") {
			continue
		}
		found[key] = turn{max(number(h, "ready_at"), number(r, "gate_until"), number(r, "doubt_until")), h["rank"], h["id"]}
	}
	return found
}

const (
	allMessages   = `SELECT * FROM outbox`
	allRecipients = `SELECT channel || ' ' || address AS key, * FROM notifier_recipients`
	allAttempts   = `SELECT * FROM notifier_attempts`
	allCounts     = `SELECT channel || ' ' || kind || ' ' || state || ' ' || reason AS key, n FROM notifier_counts`
	// These count without help.
	countMessages = `SELECT channel || ' message ' || state || ' ' || coalesce(reason, '') AS key, count(*) AS n
		FROM outbox NOT INDEXED WHERE address IS NOT NULL GROUP BY 1`
	countChats = `SELECT channel || ' chat ' || state || ' ' AS key, count(*) AS n
		FROM notifier_recipients NOT INDEXED WHERE alias_of IS NULL GROUP BY 1`
)

// compare fails the test where a lifted file is not what the file before it should have become. Of
// messages and attempts it looks at one of so many; of turns and counts at all.
func compare(t *testing.T, before, after string, began int64, oneOf int) {
	t.Helper()
	was, is := rawOpen(t, before), rawOpen(t, after)
	defer was.Close() //nolint:errcheck // a test
	defer is.Close()  //nolint:errcheck // a test
	sample := fmt.Sprintf(" WHERE id %% %d = 0", oneOf)
	oldMessages, messages := readTable(t, was, allMessages+sample), readTable(t, is, allMessages+sample)
	oldRecipients := readTable(t, was, allRecipients)
	if len(messages) != len(oldMessages) {
		t.Errorf("%d messages became %d", len(oldMessages), len(messages))
	}
	for id, old := range oldMessages {
		if diff := cmp.Diff(expectMessage(old, oldRecipients, began), messages[id]); diff != "" {
			t.Fatalf("message %s:\n%s", id, diff)
		}
	}
	if diff := cmp.Diff(readTable(t, was, allAttempts+sample), readTable(t, is, allAttempts+sample)); diff != "" {
		t.Errorf("attempts:\n%.2000s", diff)
	}
	compareRecipients(t, is, oldRecipients)
	counted := readTable(t, is, countMessages)
	maps.Copy(counted, readTable(t, is, countChats))
	if diff := cmp.Diff(counted, readTable(t, is, allCounts)); diff != "" {
		t.Errorf("counts:\n%s", diff)
	}
}

func compareRecipients(t *testing.T, is *sql.DB, oldRecipients table) {
	t.Helper()
	want := turns(readTable(t, is, allMessages+" NOT INDEXED WHERE state IN ('pending', 'sending') AND address IS NOT NULL"),
		oldRecipients, readTable(t, is, allAttempts+" NOT INDEXED WHERE result = 'open'"))
	kept := 0
	for key, r := range readTable(t, is, allRecipients) {
		if got := (turn{r["turn_at"], r["turn_rank"], r["head"]}); got != want[key] {
			t.Fatalf("the turn of %s is %v, want %v", key, got, want[key])
		}
		delete(want, key)
		old := oldRecipients[key]
		if old == nil {
			continue
		}
		kept++
		for _, of := range []string{"turn_at", "turn_rank", "head"} {
			delete(r, of)
		}
		if diff := cmp.Diff(expectRecipient(old, "4242"), r); diff != "" {
			t.Fatalf("recipient %s:\n%s", key, diff)
		}
	}
	if len(want) > 0 || kept != len(oldRecipients) {
		t.Errorf("without a row: %d recipients with a turn, %d that had one", len(want), len(oldRecipients)-kept)
	}
}

// begin starts a migration, and says as of when it lifts.
func begin(t *testing.T, path string) (began int64) {
	t.Helper()
	migrateUntil(t, path, "create the new tables")
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	if err := raw.QueryRow(`SELECT began FROM notifier_migration`).Scan(&began); err != nil {
		t.Fatal(err)
	}
	return began
}
