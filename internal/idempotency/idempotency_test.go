package idempotency_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/idempotency"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func open(t *testing.T, path string) *database.DB {
	t.Helper()
	db, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion, plans.Log())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// once asks with a body and returns the answer, whether it is a repeated one, and the error.
func once(db *database.DB, scope, key, body string, fn func() (idempotency.Response, error)) (a idempotency.Response, replayed bool, err error) {
	hash, err := idempotency.Hash([]byte(body))
	if err != nil {
		return a, false, err
	}
	err = db.Write(context.Background(), func(tx database.Tx) error {
		a, replayed, err = idempotency.Once(tx, now, scope, key, hash, fn)
		return err
	})
	return a, replayed, err
}

func answer(body string) func() (idempotency.Response, error) {
	return func() (idempotency.Response, error) {
		return idempotency.Response{Status: 201, Location: "/orders/1", Body: []byte(body)}, nil
	}
}

func TestOnceAnswersARepetitionAsTheFirstTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	db := open(t, path)
	first, replayed, err := once(db, "POST /orders", "k", `{"a":1,"b":2}`, answer("first"))
	if err != nil || replayed {
		t.Fatalf("first time: replayed %v, %v", replayed, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path) // the key outlives the process
	defer db.Close()   //nolint:errcheck // the test is over
	again, replayed, err := once(db, "POST /orders", "k", `{ "b": 2.0, "a": 1e0 }`, answer("second"))
	if err != nil || !replayed {
		t.Fatalf("second time: replayed %v, %v", replayed, err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
	if _, replayed, err := once(db, "POST /messages", "k", `{}`, answer("x")); err != nil || replayed {
		t.Errorf("another scope: replayed %v, %v", replayed, err)
	}
	if _, _, err := once(db, "POST /orders", "k", `{"a":1,"b":3}`, answer("x")); !errors.Is(err, idempotency.ErrReused) {
		t.Errorf("another body: %v", err)
	}
}

func TestOnceKeepsNoFailure(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "shop.db"))
	defer db.Close() //nolint:errcheck // the test is over
	failure := errors.New("taken")
	_, _, err := once(db, "s", "k", `{}`, func() (idempotency.Response, error) { return idempotency.Response{}, failure })
	if !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if a, replayed, err := once(db, "s", "k", `{"other":true}`, answer("now")); err != nil || replayed || string(a.Body) != "now" {
		t.Errorf("after a failure: %q, replayed %v, %v", a.Body, replayed, err)
	}
}

func TestOnceRunsOneOfManyAtTheSameTime(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "shop.db"))
	defer db.Close() //nolint:errcheck // the test is over
	ran := 0         // guarded by the one writer
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			_, _, err := once(db, "s", "k", `{}`, func() (idempotency.Response, error) {
				ran++
				return idempotency.Response{Status: 201}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ran != 1 {
		t.Errorf("ran %d times", ran)
	}
}

func TestTryLeavesNothing(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "shop.db"))
	defer db.Close() //nolint:errcheck // the test is over
	var rows int
	err := db.Write(context.Background(), func(tx database.Tx) error {
		if err := idempotency.Try(tx, now); err != nil {
			return err
		}
		return tx.QueryRow("SELECT count(*) FROM notifier_keys").Scan(&rows)
	})
	if err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestACustomersResponsesAreForgotten(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "shop.db"))
	for key, body := range map[string]string{"hers": `{"customerId":"c-17"}`, "his": `{"customerId":"c-18"}`, "nobodys": `{}`} {
		if _, _, err := once(db, "POST /orders", key, `{}`, answer(body)); err != nil {
			t.Fatal(err)
		}
	}
	err := db.Write(t.Context(), func(tx database.Tx) error {
		n, err := idempotency.ForgetCustomer(tx, "c-17", 10)
		if n != 1 {
			t.Errorf("%d were forgotten", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, known := range map[string]bool{"hers": false, "his": true, "nobodys": true} {
		if _, replayed, err := once(db, "POST /orders", key, `{}`, answer(`{}`)); err != nil || replayed != known {
			t.Errorf("%s: replayed %v, %v", key, replayed, err)
		}
	}
}

func TestOldKeysArePurgedInSteps(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "shop.db"))
	for _, key := range []string{"a", "b", "c"} {
		if _, _, err := once(db, "POST /orders", key, `{}`, answer(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		before    time.Time
		old, gone int
	}{{now.Add(-time.Millisecond), 0, 0}, {now, 3, 2}, {now, 1, 1}} {
		err := db.Write(t.Context(), func(tx database.Tx) error {
			old, err := idempotency.CountOld(tx, want.before)
			if err != nil {
				return err
			}
			gone, err := idempotency.Purge(tx, want.before, 2)
			if old != want.old || gone != want.gone {
				t.Errorf("of %d old keys %d went, want %+v", old, gone, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
