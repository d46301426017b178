package database

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier"
)

const oneMessage = `INSERT INTO outbox (recipient, type, payload, state, sent_to, ended_at) VALUES ('7', 'Text', '{"text":"x"}', 'sent', '7', 1)`

// migrate lifts a file to the present version.
func migrate(t testing.TB, path string) (from int) {
	t.Helper()
	from, err := Migrate(context.Background(), path, notifier.SchemaVersion, notifier.Migration, nil)
	if err != nil {
		t.Fatal(err)
	}
	return from
}

// migrateUntil lifts a file until the step with this name is next.
func migrateUntil(t testing.TB, path, step string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	_, err := Migrate(ctx, path, notifier.SchemaVersion, notifier.Migration, func(p Progress) {
		if p.Step == step {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run `notifier migrate` again") {
		t.Fatalf("the migration was not stopped before %q: %v", step, err)
	}
}

func TestAllWaysLeadToTheSameSchema(t *testing.T) {
	want := describe(t, fresh(t))
	for version := 1; version < notifier.SchemaVersion; version++ {
		path := oldFile(t, version, `CREATE TABLE shop_things (id INTEGER PRIMARY KEY)`, oneMessage)
		_, err := Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
		var other *VersionError
		if !errors.As(err, &other) || other.Database != version || !strings.Contains(err.Error(), "notifier migrate") {
			t.Errorf("version %d: an old database was opened: %v", version, err)
		}
		if from := migrate(t, path); from != version {
			t.Errorf("version %d: it was lifted from version %d", version, from)
		}
		lifted := open(t, path)
		if diff := cmp.Diff(want, describe(t, lifted)); diff != "" {
			t.Errorf("version %d: fresh and lifted schemas differ:\n%s", version, diff)
		}
		if n := count(t, lifted); n != 1 {
			t.Errorf("version %d: %d messages are left", version, n)
		}
		if from := migrate(t, path); from != notifier.SchemaVersion {
			t.Errorf("version %d: a second time: from %d", version, from)
		}
	}
}

// describe lists all that SQLite knows of our tables, and what they hold from the start.
func describe(t *testing.T, db *DB) []string {
	t.Helper()
	comments := regexp.MustCompile(`--[^\n]*`)
	spaces := regexp.MustCompile(`\s+`)
	var lines []string
	err := db.Read(context.Background(), func(tx Tx) error {
		rows, err := tx.Query(`SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || coalesce(sql, 'implied') FROM sqlite_master
			WHERE tbl_name NOT LIKE 'shop%' UNION ALL SELECT 'version ' || version FROM notifier_schema
			UNION ALL SELECT 'channel ' || name FROM notifier_channels`)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			line = comments.ReplaceAllString(line, "")
			// A table that was renamed stands in quotation marks.
			line = strings.NewReplacer(`TABLE "`, "TABLE ", `" (`, " (", ` ON "`, " ON ").Replace(line)
			lines = append(lines, strings.ReplaceAll(spaces.ReplaceAllString(line, " "), ") ;", ")"))
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// Who had been sent to before version 2, has accepted from the one bot that there was.
func TestWhoAcceptedBeforeVersion2(t *testing.T) {
	path := oldFile(t, 1, oneMessage, `INSERT INTO notifier_senders (channel, identity, paused_at, mark) VALUES ('telegram', '42', 7, 1)`)
	migrate(t, path)
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	var by string
	var paused, wait int64
	err := raw.QueryRow(`SELECT r.accepted_by, s.paused_at, s.gate_wait FROM notifier_recipients r JOIN notifier_senders s USING (channel)
		WHERE r.address = '7'`).Scan(&by, &paused, &wait)
	if err != nil || by != "42" || paused != 7 || wait != 0 {
		t.Errorf("accepted by %q, paused at %d, waited %d, %v", by, paused, wait, err)
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := oldFile(t, 1, oneMessage, "PRAGMA wal_checkpoint(TRUNCATE)")
	before := hash(t, path)
	_, err := Migrate(context.Background(), path, notifier.SchemaVersion, func(int) (string, error) {
		return `ALTER TABLE outbox ADD COLUMN something; SELECT * FROM nowhere`, nil
	}, nil)
	if err == nil {
		t.Fatal("it did not fail")
	}
	if hash(t, path) != before {
		t.Error("the file was changed")
	}
}

// Until a migration has ended, nobody reads or writes the file but another run of it.
func TestAMigrationUnderWayKeepsOthersOut(t *testing.T) {
	ctx := context.Background()
	for _, step := range []string{"copy the messages", "count the messages", "remove the old messages", "open the tables"} {
		path := oldFile(t, 2, fill(50)...)
		migrateUntil(t, path, step)
		var other *VersionError
		_, err := Open(ctx, path, notifier.Schema, notifier.SchemaVersion)
		if !errors.As(err, &other) || !strings.Contains(err.Error(), "a migration to version 3 is under way, or was stopped on its way: run `notifier migrate` again") {
			t.Errorf("%s: opened with %v", step, err)
		}
		if _, err := Open(ctx, path, notifier.Schema, 2); !errors.As(err, &other) || !strings.Contains(err.Error(), "of the newer notifier") {
			t.Errorf("%s: opened for version 2 with %v", step, err)
		}
		if _, err := Migrate(ctx, path, 2, notifier.Migration, nil); !errors.As(err, &other) {
			t.Errorf("%s: migrated to version 2 with %v", step, err)
		}
		raw := rawOpen(t, path)
		// As the program of version 2 reads it, and shows the error.
		var version int
		err = raw.QueryRow("SELECT version FROM notifier_schema").Scan(&version)
		if err == nil || !strings.Contains(err.Error(), "a migration to version 3 is under way: run `notifier migrate` again") {
			t.Errorf("%s: version 2 reads %d, %v", step, version, err)
		}
		for _, statement := range []string{
			`INSERT INTO outbox (recipient, type, payload) VALUES ('8', 'Text', '{}')`,
			`INSERT OR REPLACE INTO outbox (id, recipient, type, payload) VALUES (1, '8', 'Text', '{}')`,
			`UPDATE outbox SET type = 'x' WHERE id = 1`,
			`DELETE FROM outbox`,
			`INSERT INTO notifier_recipients (channel, address) VALUES ('telegram', '9')`,
			`UPDATE notifier_recipients SET epoch = epoch + 1`,
			`DELETE FROM notifier_attempts`,
			`UPDATE notifier_senders SET paused_at = 1`,
		} {
			if _, err := raw.Exec(statement); err == nil || !strings.Contains(err.Error(), "this database is being migrated to a newer notifier") {
				t.Errorf("%s: %s: %v", step, statement, err)
			}
		}
		_ = raw.Close()
		if from := migrate(t, path); from != 2 {
			t.Errorf("%s: it went on from version %d", step, from)
		}
		db := open(t, path)
		if n := count(t, db); n != 50 {
			t.Errorf("%s: %d messages, want 50", step, n)
		}
		if err := db.Write(ctx, insert); err != nil {
			t.Errorf("%s: after the migration: %v", step, err)
		}
	}
}

func TestWhoSendsIsNotMigratedAway(t *testing.T) {
	path := oldFile(t, 2)
	lock, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	_, err = Migrate(context.Background(), path, notifier.SchemaVersion, notifier.Migration, nil)
	if !errors.As(err, &held) || held.Holder.PID != os.Getpid() || !strings.Contains(err.Error(), "stop it") {
		t.Errorf("beside a sender: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	migrate(t, path)
}

func TestProgressOnlyGrows(t *testing.T) {
	path := oldFile(t, 1, oneMessage)
	last := Progress{}
	_, err := Migrate(context.Background(), path, notifier.SchemaVersion, notifier.Migration, func(p Progress) {
		if p.Done < last.Done || p.Done > p.Total || last.Total != 0 && p.Total != last.Total || p.Step == "" {
			t.Errorf("after %+v comes %+v", last, p)
		}
		last = p
	})
	if err != nil || last.Done != last.Total || last.Version != notifier.SchemaVersion || last.Step != "done" {
		t.Errorf("at the end: %+v, %v", last, err)
	}
}

// A shop's views, indexes and triggers on the table outbox outlive the table.
func TestWhatOthersMadeForOutboxStays(t *testing.T) {
	path := oldFile(t, 2, oneMessage,
		`CREATE TABLE shop_log (line TEXT, message INTEGER REFERENCES outbox(id))`,
		`CREATE VIEW shop_view AS SELECT id, sent_to FROM outbox`,
		`CREATE INDEX "shop's index" ON outbox (type)`,
		`CREATE INDEX shop_sent ON outbox (sent_to)`,
		`CREATE TRIGGER shop_trigger AFTER INSERT ON outbox BEGIN INSERT INTO shop_log VALUES (NEW.recipient, NEW.id); END`)
	_, err := Migrate(context.Background(), path, notifier.SchemaVersion, notifier.Migration, nil)
	if err == nil || !strings.Contains(err.Error(), "the index shop_sent, which is not notifier's, does not fit the new table outbox; remove it") {
		t.Fatalf("with an index on a column that goes: %v", err)
	}
	rawExec(t, path, `DROP INDEX shop_sent`)
	migrate(t, path)
	rawExec(t, path, `INSERT INTO outbox (recipient, type, payload) VALUES ('8', 'Text', '{}')`)
	raw := rawOpen(t, path)
	defer raw.Close() //nolint:errcheck // a test
	var logged, kept string
	if err := raw.QueryRow(`SELECT group_concat(line || message) FROM shop_log`).Scan(&logged); err != nil || logged != "82" {
		t.Errorf("the shop's trigger logged %q, %v", logged, err)
	}
	err = raw.QueryRow(`SELECT group_concat(sql, '; ') FROM (SELECT sql FROM sqlite_master WHERE name LIKE 'shop%' ORDER BY name)`).Scan(&kept)
	want := `CREATE INDEX "shop's index" ON outbox (type); CREATE TABLE shop_log (line TEXT, message INTEGER REFERENCES outbox(id)); ` +
		`CREATE TRIGGER shop_trigger AFTER INSERT ON outbox BEGIN INSERT INTO shop_log VALUES (NEW.recipient, NEW.id); END; ` +
		`CREATE VIEW shop_view AS SELECT id, sent_to FROM outbox`
	if err != nil || kept != want {
		t.Errorf("the shop's own is now %s, %v", kept, err)
	}
}

func TestScripts(t *testing.T) {
	steps, err := parseScript("-- About: nothing\n\nSELECT 1;\n-- a note: SELECT\n")
	if err != nil || len(steps) != 1 || steps[0].share != defaultShare || !strings.Contains(steps[0].sql, "SELECT 1;") {
		t.Errorf("without steps: %+v, %v", steps, err)
	}
	steps, err = parseScript("-- About: it\n-- step: one\n-- share: 7\nSELECT 1;\n-- step: two\n-- slices: t by k\n-- carry: c\nSELECT 2;\n")
	want := []step{{name: "one", share: 7, sql: "SELECT 1;\n"}, {name: "two", share: defaultShare, table: "t", key: "k", carry: "c", sql: "SELECT 2;\n"}}
	if diff := cmp.Diff(want, steps, cmp.AllowUnexported(step{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, wrong := range []string{"-- step: one\n-- share: much\n", "-- step: one\n-- slices: outbox\n"} {
		if _, err := parseScript(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
