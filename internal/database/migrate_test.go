package database

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier"
)

// oldDatabase makes a file as the first version made it, with a message and a shop's own table.
func oldDatabase(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("testdata/schema-1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // a test
	for _, statement := range []string{
		string(schema),
		`CREATE TABLE shop_things (id INTEGER PRIMARY KEY)`,
		`INSERT INTO outbox (recipient, type, payload, state, sent_to, ended_at) VALUES ('7', 'Text', '{"text":"x"}', 'sent', '7', 1)`,
	} {
		if _, err := raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestBothWaysLeadToTheSameSchema(t *testing.T) {
	path := oldDatabase(t)
	ctx := context.Background()
	var version *VersionError
	if _, err := Open(ctx, path, notifier.Schema, notifier.SchemaVersion); !errors.As(err, &version) || !strings.Contains(err.Error(), "notifier migrate") {
		t.Errorf("an old database was opened: %v", err)
	}
	from, err := Migrate(ctx, path, notifier.SchemaVersion, notifier.Migration)
	if err != nil || from != 1 {
		t.Fatalf("from version %d: %v", from, err)
	}
	lifted, fresh := open(t, path), fresh(t)
	if diff := cmp.Diff(describe(t, fresh), describe(t, lifted)); diff != "" {
		t.Errorf("fresh and lifted schemas differ:\n%s", diff)
	}
	if n := count(t, lifted); n != 1 {
		t.Errorf("%d messages are left", n)
	}
	var accepted int
	err = lifted.Read(ctx, func(tx Tx) error {
		return tx.QueryRow(`SELECT accepted FROM notifier_recipients WHERE address = '7'`).Scan(&accepted)
	})
	if err != nil || accepted != 1 {
		t.Errorf("the chat that had a message: accepted %d, %v", accepted, err)
	}
	if from, err := Migrate(ctx, path, notifier.SchemaVersion, notifier.Migration); err != nil || from != notifier.SchemaVersion {
		t.Errorf("a second time: from %d, %v", from, err)
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := oldDatabase(t)
	before := hash(t, path)
	_, err := Migrate(context.Background(), path, notifier.SchemaVersion, func(int) (string, error) {
		return `ALTER TABLE outbox ADD COLUMN something; SELECT * FROM nowhere`, nil
	})
	if err == nil {
		t.Fatal("it did not fail")
	}
	if hash(t, path) != before {
		t.Error("the file was changed")
	}
}

// describe lists what SQLite knows of our tables: their columns and indexes. Column order is left
// out, since a column that is added later comes last.
func describe(t *testing.T, db *DB) []string {
	t.Helper()
	var lines []string
	err := db.Read(context.Background(), func(tx Tx) error {
		rows, err := tx.Query(`SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' '
				|| coalesce(c.dflt_value, '-') || ' ' || c.pk
			FROM sqlite_master t JOIN pragma_table_info(t.name) c
			WHERE t.type = 'table' AND (t.name = 'outbox' OR t.name LIKE 'notifier_%')
			UNION ALL SELECT name || ': ' || coalesce(sql, 'implied') FROM sqlite_master
			WHERE type = 'index' AND (tbl_name = 'outbox' OR tbl_name LIKE 'notifier_%')`)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			lines = append(lines, regexp.MustCompile(`\s+`).ReplaceAllString(line, " "))
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
