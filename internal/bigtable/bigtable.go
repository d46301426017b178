// Package bigtable makes database files of a shop that has been running for years, for benchmarks.
// Only tests import it.
package bigtable

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"notifier"
)

// Size says how much a file holds.
type Size struct {
	Sent       int // messages that were sent
	Pending    int // messages that wait, GatedRows of them included
	Recipients int // chats and customers, Unlinked of them included
	Unlinked   int // customers without a chat
	GatedRows  int // messages that wait for the one chat with a gate, which is Gated
}

// Small and Large are the sizes that benchmarks compare.
var (
	Small = Size{Pending: 10_000, Recipients: 10_000}
	Large = Size{Sent: 1_000_000, Pending: 1_000_000, Recipients: 200_000, Unlinked: 64_000, GatedRows: 100_000}
)

// Gated is the chat with a gate; Forgotten is a customer with 20,000 messages in a large file.
const (
	Gated     = "999999999"
	Forgotten = "customer:forgotten"
)

// Make writes a new file. It goes around triggers and indexes, which are made at the end.
func Make(path string, size Size) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(OFF)&_pragma=cache_size(-200000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = fill(db, size)
	return errors.Join(err, db.Close())
}

func fill(db *sql.DB, size Size) error {
	tables, later := split(notifier.Schema)
	for _, text := range []string{"PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", tables, "BEGIN"} {
		if _, err := db.Exec(text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	for _, s := range size.statements() {
		if _, err := db.Exec(s); err != nil {
			return fmt.Errorf("%.200s: %w", s, err)
		}
	}
	for _, text := range []string{later, "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.Exec(text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}

// split parts the schema into what comes before the rows and what comes after them.
func split(schema string) (tables, later string) {
	var first, second []string
	for _, s := range strings.SplitAfter(schema, ";\n") {
		body := s
		for strings.HasPrefix(strings.TrimSpace(body), "--") {
			_, body, _ = strings.Cut(strings.TrimSpace(body), "\n")
		}
		body = strings.TrimSpace(body)
		switch {
		case strings.HasPrefix(body, "CREATE TRIGGER"), strings.HasPrefix(body, "CREATE INDEX"),
			strings.HasPrefix(body, "CREATE UNIQUE INDEX"), strings.HasPrefix(body, "END"):
			second = append(second, s)
		default:
			first = append(first, s)
		}
	}
	return strings.Join(first, ""), strings.Join(second, "")
}

const (
	base    = 1_767_000_000_000 // the instant at which it all began, in milliseconds
	numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `
	payload = `'{"text":"Your order ' || i || ' is on its way."}'`
)

// statements fill the tables: recipients 700000001 and on are chats, customer:u-1 and on have none.
func (z Size) statements() []string {
	chats := z.Recipients - z.Unlinked
	open := z.Pending - z.GatedRows - z.Unlinked
	forgotten := z.Sent / 50
	columns := `INSERT INTO outbox (idempotency_key, recipient, type, payload, created_at, state, ended_at, address, hold, ready_at, age_from, remote_id) `
	list := []string{
		fmt.Sprintf(numbers+columns+`SELECT 's-' || i, 700000001 + i %% %d, 'Text', `+payload+`, %d + i, 'sent', %d + i, CAST(700000001 + i %% %d AS TEXT), 0, %d + i, %d + i, i FROM n`,
			max(z.Sent, 1), chats, base, base+1000, chats, base, base),
		fmt.Sprintf(numbers+columns+`SELECT 'p-' || i, 700000001 + i %% %d, 'Text', `+payload+`, %d + i, 'pending', NULL, CAST(700000001 + i %% %d AS TEXT), 0, %d + i, unixepoch() * 1000, NULL FROM n`,
			max(open, 1), chats, base, chats, base),
		fmt.Sprintf(numbers+columns+`SELECT 'u-' || i, 'customer:u-' || i, 'Text', `+payload+`, %d + i, 'pending', NULL, 'customer:u-' || i, 2, %d + i, unixepoch() * 1000, NULL FROM n WHERE i <= %d`,
			max(z.Unlinked, 1), base, base, z.Unlinked),
		fmt.Sprintf(numbers+columns+`SELECT 'g-' || i, '%s', 'Text', `+payload+`, %d + i, 'pending', NULL, '%s', 0, %d + i, unixepoch() * 1000, NULL FROM n WHERE i <= %d`,
			max(z.GatedRows, 1), Gated, base, Gated, base, z.GatedRows),
		fmt.Sprintf(numbers+columns+`SELECT 'f-' || i, '%s', 'Text', `+payload+`, %d + i, 'sent', %d + i, '600000001', 0, %d + i, %d + i, i FROM n WHERE i <= %d`,
			max(forgotten, 1), Forgotten, base, base, base, base, forgotten),
		`INSERT INTO notifier_recipients (channel, address, accepted_by, turn_at, turn_rank, head)
			SELECT 'telegram', address, '123', min(ready_at), 1, min(id) FROM outbox WHERE state = 'pending' AND hold = 0 GROUP BY address`,
		`INSERT OR IGNORE INTO notifier_recipients (channel, address, accepted_by) SELECT DISTINCT 'telegram', address, '123' FROM outbox WHERE hold = 0`,
		`UPDATE notifier_recipients SET gate_until = unixepoch() * 1000 + 36000000, gate_wait = 36000000, turn_at = unixepoch() * 1000 + 36000000 WHERE address = '` + Gated + `'`,
		`INSERT INTO notifier_recipients (channel, address, alias_of) VALUES ('telegram', '` + Forgotten + `', '600000001')`,
		`INSERT INTO notifier_counts (channel, kind, state, reason, n) SELECT 'telegram', 'message', state, coalesce(reason, ''), count(*) FROM outbox GROUP BY state, reason`,
		`INSERT INTO notifier_counts (channel, kind, state, n) SELECT 'telegram', 'chat', state, count(*) FROM notifier_recipients WHERE alias_of IS NULL GROUP BY state`,
	}
	if z.Sent == 0 {
		return list[1:]
	}
	return list
}
