package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"notifier"
)

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func fresh(t *testing.T) *DB { return open(t, filepath.Join(t.TempDir(), "test.db")) }

func insert(tx Tx) error {
	_, err := tx.Exec(`INSERT INTO outbox (recipient, type, payload) VALUES ('7', 'Text', '{"text":"x"}')`)
	return err
}

func count(t *testing.T, db *DB) (n int) {
	t.Helper()
	err := db.Read(context.Background(), func(tx Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM outbox`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	db := fresh(t)
	failed := errors.New("no")
	err := db.Write(context.Background(), func(tx Tx) error {
		if err := insert(tx); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("Write returned %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(context.Background(), func(tx Tx) error {
			if err := insert(tx); err != nil {
				return err
			}
			panic("in a write")
		})
	}()
	if n := count(t, db); n != 0 {
		t.Errorf("%d rows remain", n)
	}
	if err := db.Write(context.Background(), insert); err != nil {
		t.Errorf("the next write: %v", err)
	}
}

func TestACancelledCallerDoesNotReachTheConnection(t *testing.T) {
	db := fresh(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := db.Write(ctx, func(tx Tx) error {
		cancel()
		return insert(tx)
	})
	if err != nil || count(t, db) != 1 {
		t.Errorf("a write whose caller left: %v, %d rows", err, count(t, db))
	}
	if err := db.Write(ctx, insert); !errors.Is(err, context.Canceled) {
		t.Errorf("a write after its caller left: %v", err)
	}
}

func TestEveryConnectionHasItsPragmas(t *testing.T) {
	db := fresh(t)
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000", "auto_vacuum": "2",
	}
	check := func(who string, tx Tx) error {
		for pragma, value := range want {
			var got string
			if err := tx.QueryRow(`PRAGMA ` + pragma).Scan(&got); err != nil {
				return err
			}
			if got != value {
				t.Errorf("%s has %s = %s, want %s", who, pragma, got, value)
			}
		}
		return nil
	}
	if err := db.Write(context.Background(), func(tx Tx) error { return check("the writer", tx) }); err != nil {
		t.Error(err)
	}
	var all sync.WaitGroup
	together := make(chan struct{})
	for range readers {
		all.Go(func() {
			err := db.Read(context.Background(), func(tx Tx) error {
				together <- struct{}{}
				return check("a reader", tx)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range readers {
		<-together
	}
	all.Wait()
}

func TestClosingTwiceIsHarmless(t *testing.T) {
	db := fresh(t)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestAReaderCannotWrite(t *testing.T) {
	db := fresh(t)
	if err := db.Read(context.Background(), insert); err == nil {
		t.Error("a reader wrote")
	}
}

func TestAnyPathIsTakenLiterally(t *testing.T) {
	for _, name := range []string{"a b.db", "a#b.db", "a%20b.db", "a?b=c.db", "a:b.db", "ü.db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		db := open(t, path)
		if err := db.Write(context.Background(), insert); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(context.Background(), "postgres://x/y", notifier.Schema, 1); err == nil {
		t.Error("a database of another kind was opened")
	}
}

func TestTheFileIsPrivate(t *testing.T) {
	db := fresh(t)
	info, err := os.Stat(db.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAnotherVersionIsRefusedUntouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	change := func(statement string) {
		raw, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close() //nolint:errcheck // a test
		if _, err := raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	db, err := Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	change(`UPDATE notifier_schema SET version = version + 1`)
	before := hash(t, path)
	_, err = Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
	var version *VersionError
	if !errors.As(err, &version) || version.Database != notifier.SchemaVersion+1 || version.Program != notifier.SchemaVersion {
		t.Errorf("opened with %v", err)
	}
	if hash(t, path) != before {
		t.Error("the file was changed")
	}
}

func hash(t *testing.T, path string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

func TestAShopsTablesCanLiveBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY); PRAGMA user_version = 7`); err != nil {
		t.Fatal(err)
	}
	_ = raw.Close()
	db := open(t, path)
	var version int
	err = db.Read(context.Background(), func(tx Tx) error { return tx.QueryRow(`PRAGMA user_version`).Scan(&version) })
	if err != nil || version != 7 {
		t.Errorf("the shop's user_version is %d, %v", version, err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	raw, _ = sql.Open("sqlite", other)
	if _, err := raw.Exec(`CREATE TABLE outbox (id INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	_ = raw.Close()
	before := hash(t, other)
	if _, err := Open(context.Background(), other, notifier.Schema, 1); !errors.Is(err, errForeignOutbox) {
		t.Errorf("a foreign outbox: %v", err)
	}
	if hash(t, other) != before {
		t.Error("the file was changed")
	}
}

func TestTwoProgramsCanCreateTheSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			db, err := Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Write(context.Background(), insert); err != nil {
				t.Error(err)
			}
			_ = db.Close()
		})
	}
	all.Wait()
	if n := count(t, open(t, path)); n != 8 {
		t.Errorf("%d rows, want 8", n)
	}
}
