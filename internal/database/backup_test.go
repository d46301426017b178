package database

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"notifier"
)

func TestABackupIsWholeWhileOthersWrite(t *testing.T) {
	db := fresh(t)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	written := make(chan struct{}, 1)
	all.Go(func() {
		for ctx.Err() == nil {
			if err := db.Write(context.Background(), insert); err != nil {
				t.Error(err)
			}
			select {
			case written <- struct{}{}:
			default:
			}
		}
	})
	for range 20 {
		<-written
	}
	before := count(t, db)
	target := filepath.Join(t.TempDir(), "copy.db")
	err := db.Backup(context.Background(), target, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO notifier_senders (channel, copied_at) VALUES ('telegram', ?)`, time.Now().UnixMilli())
		return err
	})
	cancel()
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(target), draftMark+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	copied := open(t, target)
	if n := count(t, copied); n < before {
		t.Errorf("the copy has %d messages, %d were there when it began", n, before)
	}
	err = copied.Read(context.Background(), func(tx Tx) error {
		var check, vacuum string
		var marked int
		if err := tx.QueryRow(`PRAGMA integrity_check`).Scan(&check); err != nil {
			return err
		}
		if err := tx.QueryRow(`PRAGMA auto_vacuum`).Scan(&vacuum); err != nil {
			return err
		}
		if err := tx.QueryRow(`SELECT count(*) FROM notifier_senders WHERE copied_at > 0`).Scan(&marked); err != nil {
			return err
		}
		if check != "ok" || vacuum != "2" || marked != 1 {
			t.Errorf("integrity %s, auto_vacuum %s, marked %d", check, vacuum, marked)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := db.Backup(context.Background(), target, func(Tx) error { return nil }); err == nil {
		t.Error("an existing file was overwritten")
	}
}

func TestTwoCopiesHaveTwoPlaces(t *testing.T) {
	db := fresh(t)
	target := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(context.Background(), target, func(Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	copied, err := Open(context.Background(), target, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close() //nolint:errcheck // a test
	_, one, err1 := db.Place()
	_, two, err2 := copied.Place()
	if err1 != nil || err2 != nil || one == two || one == 0 {
		t.Errorf("inodes %d and %d: %v, %v", one, two, err1, err2)
	}
}

// A file that was there before notifier keeps the kind of vacuum it was made with: asked for space,
// it gives none, and nobody waits for it.
func TestAFileWithoutIncrementalVacuumGivesNothingBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`CREATE TABLE shop (text TEXT)`); err != nil {
		t.Fatal(err)
	}
	_ = raw.Close()
	db := open(t, path)
	for _, statement := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
			INSERT INTO shop SELECT printf('%.*c', 1000, 'x') FROM n`,
		`DELETE FROM shop`,
	} {
		err := db.Write(context.Background(), func(tx Tx) error {
			_, err := tx.Exec(statement)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := db.GiveBack(ctx); err != nil {
		t.Errorf("asked for space: %v", err)
	}
}
