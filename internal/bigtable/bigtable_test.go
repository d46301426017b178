package bigtable

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"notifier"
)

// A file has what its size says, and the database's own checks find nothing.
func TestAFileHasWhatItsSizeSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.db")
	size := Size{Sent: 100, Pending: 2000, Recipients: 400, Unlinked: 100, GatedRows: 300}
	if err := Make(path, size); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	for query, want := range map[string]string{
		`PRAGMA quick_check`: "ok",
		`SELECT count(*) FROM outbox WHERE state = 'pending'`:                        "2000",
		`SELECT count(*) FROM outbox WHERE address = '` + Gated + `'`:                "300",
		`SELECT count(*) FROM notifier_recipients WHERE turn_at IS NOT NULL`:         "301",
		`SELECT count(*) FROM sqlite_master WHERE type = 'trigger'`:                  "4",
		`SELECT n FROM notifier_counts WHERE kind = 'message' AND state = 'pending'`: "2000",
		`SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql NOTNULL`: fmt.Sprint(
			strings.Count(notifier.Schema, "\nCREATE INDEX ") + strings.Count(notifier.Schema, "\nCREATE UNIQUE INDEX ")),
	} {
		var got string
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", query, got, want, err)
		}
	}
}
