package database

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestWatchHearsOnlyOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	ours, theirs := open(t, path), open(t, path)
	changed, stop := ours.Watch()
	defer stop()
	before, err := ours.ForeignCommits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := ours.Write(context.Background(), insert); err != nil {
		t.Fatal(err)
	}
	if after, _ := ours.ForeignCommits(context.Background()); after != before {
		t.Error("our own commit counts as another's")
	}
	if err := theirs.Write(context.Background(), insert); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Fatal("another's commit was not noticed")
	}
	if after, _ := ours.ForeignCommits(context.Background()); after == before {
		t.Error("another's commit was not counted")
	}
}

func TestTheSendersLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	one := open(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	two := open(t, link)
	lock, err := one.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := two.TryLock(); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Fatalf("a second lock: %v", err)
	}
	waiting, got := make(chan Holder), make(chan error)
	go func() {
		l, err := two.Lock(context.Background(), func(h Holder) { waiting <- h })
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	<-waiting
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("the standby: %v", err)
	}
}

// A program in another language gets its turn although we hold the lock nearly all the time.
func TestAForeignWriterIsNotStarved(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	db := fresh(t)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				_ = db.Write(ctx, func(tx Tx) error {
					time.Sleep(150 * time.Millisecond) // a slow disk
					return insert(tx)
				})
			}
		})
	}
	out, err := exec.CommandContext(t.Context(), "python3", "-c", foreignWriter, db.Path()).CombinedOutput() //nolint:gosec // our own script
	cancel()
	all.Wait()
	if err != nil {
		t.Errorf("the foreign writer failed: %v\n%s", err, out)
	}
	var n int
	err = db.Read(context.Background(), func(tx Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM outbox WHERE recipient = '8'`).Scan(&n)
	})
	if err != nil || n != 2 {
		t.Errorf("%d foreign rows, %v", n, err)
	}
}

const foreignWriter = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=5)
for _ in range(2):
    with db:
        db.execute("""INSERT INTO outbox (recipient, type, payload) VALUES ('8', 'Text', '{"text":"x"}')""")
`
