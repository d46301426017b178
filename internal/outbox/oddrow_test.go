package outbox

import (
	"context"
	"database/sql"
	"testing"
	"time"
)

// A program can switch the CHECKs off. A value that can be read, and that no CHECK takes, must not
// stop the others either.
func TestARowOutOfItsBoundsEndsAlone(t *testing.T) {
	for _, odd := range []string{"rank = 7", "not_before = 9223372036854775807", "created_at = -1", "not_before = 1",
		"recipient = x'00ff'", "recipient = ''", "expires_at = 9223372036854775807", "recipient = 'nobody'", "recipient = printf('%.*c', 300, '7')"} {
		t.Run(odd, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.insertForeign("1")
				w.oddly(`UPDATE outbox SET `+odd+` WHERE id = ?`, id)
				other := w.put("2", "x")
				w.runFor(time.Minute)
				w.wantState(other, StateSent, "")
				if m := w.message(id); m.State == StatePending {
					t.Errorf("the row is %s", m.State)
				}
				if _, err := w.box.RetryAll(context.Background(), w.db, time.Now(), Bulk{State: "dead"}); err != nil {
					t.Errorf("retrying all: %v", err)
				}
			})
		})
	}
}

// Nor does a row that claims to be under way keep its chat from the others.
func TestARowThatClaimsToBeUnderWayIsTakenInAsNew(t *testing.T) {
	for _, claim := range []string{"state = 'sending'", "state = 'sent', ended_at = 1", "state = 'dead', reason = 'expired', ended_at = 1"} {
		for _, running := range []bool{true, false} {
			inWorld(t, func(w *world) {
				if running {
					w.runFor(time.Second)
				}
				id := w.insertForeign("1")
				w.oddly(`UPDATE outbox SET `+claim+` WHERE id = ?`, id)
				next := w.put("1", "x")
				w.runFor(time.Minute)
				w.wantState(id, StateSent, "")
				w.wantState(next, StateSent, "")
			})
		}
	}
}

// oddly does what a program can that has switched the CHECKs off.
func (w *world) oddly(statement string, args ...any) {
	w.t.Helper()
	raw, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=ignore_check_constraints(1)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // a test
	if _, err := raw.Exec(statement, args...); err != nil {
		w.t.Fatal(err)
	}
}
