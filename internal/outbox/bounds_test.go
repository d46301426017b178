package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"notifier/internal/database"
)

// countingTx counts the statements of a transaction.
type countingTx struct {
	database.Tx
	statements *int
}

func (t countingTx) Exec(query string, args ...any) (sql.Result, error) {
	*t.statements++
	return t.Tx.Exec(query, args...)
}

func (t countingTx) Query(query string, args ...any) (database.Rows, error) {
	*t.statements++
	return t.Tx.Query(query, args...)
}

func (t countingTx) QueryRow(query string, args ...any) database.Row {
	*t.statements++
	return t.Tx.QueryRow(query, args...)
}

// statementsOfARound makes a round whose effects are dropped, and says how many statements it took.
func (w *world) statementsOfARound() (n int) {
	w.t.Helper()
	w.write(func(tx database.Tx) error {
		r := &round{d: w.d, now: time.Now(), wall: time.Now(), machine: w.d.machine}
		return r.run(countingTx{tx, &n})
	})
	return n
}

// Before the channel has told its time, what is too old is neither sent nor ended; messages whose template is
// broken end. However many there are, a round holds the write lock for a bounded number of them.
func TestARoundLooksAtABoundedNumberOfRecipients(t *testing.T) {
	for name, text := range map[string]string{"too old": "x", "unsendable": ""} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				for i := range 1000 {
					w.put(fmt.Sprint(1+i), text)
				}
				if text != "" {
					time.Sleep(100 * time.Hour)
				}
				if err := w.d.load(context.Background()); err != nil {
					t.Fatal(err)
				}
				if n := w.statementsOfARound(); n > 2500 {
					t.Errorf("a round over 1000 recipients takes %d statements", n)
				}
				w.runFor(time.Minute)
				for i := range 1000 {
					if m := w.message(int64(1 + i)); m.State != StateDead {
						t.Fatalf("message %d is %s", m.ID, m.State)
					}
				}
			})
		})
	}
}
