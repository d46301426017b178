package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

func TestSQ1NobodyMeetsALockedDatabase(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_RATE_BOT=500")
	if err := s.sandbox.SetLimits(sandbox.Limits{}); err != nil {
		t.Fatal(err)
	}
	v := s.serve()
	db := s.foreign()
	s.oldRows(db, 5000, 100)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var c crowd
	all := c.shop(ctx, t, v, 20, 0)
	for range 3 {
		s.must("purge")
		s.must("message", "list", "--json")
		s.must("message", "send", "--chat", "900", "--text", "from the command line")
	}
	cancel()
	all.Wait()

	// An outside process holds the lock for a while, and twenty requests arrive.
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	for i := range 20 {
		waiting.Go(func() {
			if status, answer, err := v.post("/orders", "", order(fmt.Sprint("L-", i), 2000+i)); err != nil || status != http.StatusCreated {
				t.Errorf("while the lock was held: %d %v %v", status, answer, err)
			}
		})
	}
	time.Sleep(time.Second) // the case is about a lock that is held for a time
	if _, err := conn.ExecContext(context.Background(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	if placed, told := s.number(db, `SELECT count(*) FROM notifier_orders`), s.number(db, `SELECT count(DISTINCT subject) FROM outbox WHERE type = 'OrderPlaced'`); placed != told {
		t.Errorf("%d orders, %d of them with a message", placed, told)
	}
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}

// A reader that keeps an old state open lets the log grow; once it is gone the log is cut off.
func TestSQ3TheWriteAheadLogStaysBounded(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	s.must("order", "place", "--customer", "c-1", "--currency", "EUR", "--total", "1") // makes the database
	db := s.foreign()
	reader, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(context.Background(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRowContext(context.Background(), "SELECT count(*) FROM outbox").Scan(&n); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(s.database() + "-wal")
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for i := 0; size() < 20<<20; i++ {
		s.oldRows(db, 2000, 1000)
		if i > 50 {
			t.Fatal("the log does not grow")
		}
	}
	if _, err := reader.ExecContext(context.Background(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	s.must("purge")
	if got := size(); got > 16<<20 {
		t.Errorf("the log has %d MB", got>>20)
	}
}

// A purge that is cut off goes on where it was; orders do not feel it.
func TestSQ4APurgeDoesNotStallTheShop(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	v := s.serve()
	db := s.foreign()
	s.oldRows(db, 100_000, 200)
	left := func() int {
		return s.number(db, `SELECT count(*) FROM outbox WHERE blanked_at IS NULL AND ended_at > 0`)
	}
	before := left()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var c crowd
	all := c.shop(ctx, t, v, 2, 50*time.Millisecond)
	purge := s.command("purge")
	if err := purge.Start(); err != nil {
		t.Fatal(err)
	}
	for left() == before { // until it is under way
		time.Sleep(5 * time.Millisecond)
	}
	_ = purge.Process.Signal(os.Interrupt)
	_ = purge.Wait()
	middle := left()
	if middle == 0 || middle >= before {
		t.Errorf("%d of %d are left after the interruption", middle, before)
	}
	s.must("purge")
	cancel()
	all.Wait()
	if n := left(); n != 0 {
		t.Errorf("%d are left at the end", n)
	}
	if slow := c.slowest(); slow > time.Second {
		t.Errorf("an order took %v beside the purge", slow)
	}
	t.Logf("%d orders beside the purge, the slowest but for one in a hundred in %v", c.placed.Load(), c.slowest())
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}

func TestSQ5APurgeTakesOnlyWhatHasEnded(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	for range 4 {
		s.must("message", "send", "--chat", "701", "--text", "x")
	}
	db := s.foreign()
	const day = "86400000"
	for _, statement := range []string{
		"UPDATE outbox SET created_at = created_at - 40 * " + day,
		"UPDATE outbox SET state = 'sent', ended_at = created_at + 1 * " + day + " WHERE id = 1",
		"UPDATE outbox SET state = 'sent', ended_at = created_at + 39 * " + day + " WHERE id = 2",
		"UPDATE outbox SET expires_at = created_at + 400 * " + day + " WHERE id = 3",
		"UPDATE outbox SET state = 'dead', reason = 'rejected', ended_at = created_at + 1 * " + day + " WHERE id = 4",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	s.must("purge")
	if got := s.number(db, `SELECT sum(id) FROM outbox WHERE blanked_at IS NOT NULL`); got != 1 {
		t.Errorf("the ids of what was erased add up to %d", got)
	}
	s.must("dispatch", "--until-empty")
	if got := len(s.sandbox.Messages()); got != 1 {
		t.Errorf("%d were sent", got)
	}
}

func TestSQ6SpaceComesBack(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_RETENTION_KEYS=720h")
	v := s.serve()
	db := s.foreign()
	s.oldRows(db, 20_000, 1500)
	if _, err := db.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(s.database())
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var c crowd
	all := c.shop(ctx, t, v, 2, 20*time.Millisecond)
	s.must("purge")
	cancel()
	all.Wait()
	if after := size(); after > before/2 {
		t.Errorf("%d MB before, %d MB after", before>>20, after>>20)
	}
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
	var check string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity: %s, %v", check, err)
	}
}

func TestSQ10ABackupUnderLoadHasEveryOrder(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	v := s.serve()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var c crowd
	all := c.shop(ctx, t, v, 4, 20*time.Millisecond)
	for c.placed.Load() < 50 {
		time.Sleep(5 * time.Millisecond)
	}
	acknowledged := c.placed.Load()
	target := filepath.Join(t.TempDir(), "copy.db")
	s.must("backup", target)
	cancel()
	all.Wait()
	if out, err := s.command("backup", s.database()).CombinedOutput(); err == nil {
		t.Errorf("a live database was overwritten: %s", out)
	}
	restored := newProgramEnv(t, "DATABASE_URL="+target)
	w := restored.serve("--paused")
	if _, body, err := w.get("/orders?limit=500"); err != nil || int64(len(body["items"].([]any))) < min(acknowledged, 500) {
		t.Errorf("%d orders were acknowledged before the backup; it has %d, %v", acknowledged, len(body["items"].([]any)), err)
	}
	for _, v := range []*service{v, w} {
		if err := v.stop(); err != nil {
			t.Errorf("a service ended with %v\n%s", err, v.log)
		}
	}
	copied, err := sql.Open("sqlite", target)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close() //nolint:errcheck // a test
	var check string
	if err := copied.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity: %s, %v", check, err)
	}
}
