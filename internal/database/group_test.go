package database

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// blocked holds the turn to write until all of n writes wait for it, and lets them go together.
func blocked(t *testing.T, db *DB, n int) (release func()) {
	t.Helper()
	<-db.turn
	return func() {
		for { // until all wait: nothing tells of it
			db.writes.mu.Lock()
			waiting := len(db.writes.list)
			db.writes.mu.Unlock()
			if runtime.Gosched(); waiting == n {
				break
			}
		}
		db.turn <- struct{}{}
	}
}

var errRefused = errors.New("refused")

func TestWritesThatWaitShareATransactionAndNotTheirFate(t *testing.T) {
	db := fresh(t)
	must(t, db.Write(t.Context(), func(tx Tx) error {
		_, err := tx.Exec("CREATE TABLE kept (n INTEGER PRIMARY KEY)")
		return err
	}))
	const n = 60
	release := blocked(t, db, n)
	var all sync.WaitGroup
	results := make([]string, n)
	for i := range n {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					results[i] = fmt.Sprint("panic ", p)
				}
			}()
			err := db.Write(t.Context(), func(tx Tx) error {
				if _, err := tx.Exec("INSERT INTO kept (n) VALUES (?)", i); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return errRefused
				case 2:
					panic(i)
				}
				return nil
			})
			results[i] = fmt.Sprint(err)
		})
	}
	release()
	all.Wait()
	for i, got := range results {
		want := []string{"<nil>", "refused", fmt.Sprint("panic ", i)}[i%3]
		if got != want {
			t.Errorf("write %d ended with %s, want %s", i, got, want)
		}
	}
	var sum, wrong int
	must(t, db.Read(t.Context(), func(tx Tx) error {
		return tx.QueryRow("SELECT count(*), coalesce(sum(n % 3 <> 0), 0) FROM kept").Scan(&sum, &wrong)
	}))
	if sum != n/3 || wrong != 0 {
		t.Errorf("%d rows remain, %d of them of writes that failed; want %d and none", sum, wrong, n/3)
	}
}

// On a full disk SQLite takes back the whole transaction and not a savepoint: nobody of the group may
// be told that all is well.
func TestAFullDiskFailsTheWholeGroup(t *testing.T) {
	db := fresh(t)
	must(t, db.Write(t.Context(), func(tx Tx) error {
		_, err := tx.Exec("CREATE TABLE kept (n INTEGER PRIMARY KEY, content TEXT)")
		return err
	}))
	var pages int
	must(t, db.writer.row("PRAGMA page_count", nil, &pages))
	must(t, db.writer.row(fmt.Sprintf("PRAGMA max_page_count = %d", pages+20), nil, &pages))
	const n = 20
	release := blocked(t, db, n)
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			errs[i] = db.Write(t.Context(), func(tx Tx) error {
				size := 10
				if i == n/2 {
					size = 1 << 20
				}
				_, err := tx.Exec("INSERT INTO kept (n, content) VALUES (?, ?)", i, strings.Repeat("x", size))
				return err
			})
		})
	}
	release()
	all.Wait()
	kept := map[int]bool{}
	must(t, db.Read(t.Context(), func(tx Tx) error {
		rows, err := tx.Query("SELECT n FROM kept")
		if err != nil {
			return err
		}
		for rows.Next() {
			var i int
			if err := rows.Scan(&i); err != nil {
				return err
			}
			kept[i] = true
		}
		return rows.Close()
	}))
	for i, err := range errs {
		if kept[i] != (err == nil) {
			t.Errorf("write %d: kept %v, and its caller was told %v", i, kept[i], err)
		}
	}
	if errs[n/2] == nil {
		t.Error("the write that fills the disk succeeded")
	}
	must(t, db.Write(t.Context(), func(tx Tx) error {
		_, err := tx.Exec("INSERT INTO kept (n, content) VALUES (1000, '')")
		return err
	}))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAClosedDatabaseAnswersAtOnce(t *testing.T) {
	db := fresh(t)
	must(t, db.Close())
	nothing := func(Tx) error { return nil }
	for what, err := range map[string]error{
		"read": db.Read(t.Context(), nothing), "write": db.Write(t.Context(), nothing),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("a %s after Close: %v", what, err)
		}
	}
}
