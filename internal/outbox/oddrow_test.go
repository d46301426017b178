package outbox

import (
	"database/sql"
	"testing"
	"time"
)

// A program can switch the CHECKs off. A value that can be read, and that no CHECK takes, must not
// stop the others either.
func TestARowOutOfItsBoundsEndsAlone(t *testing.T) {
	for _, odd := range []string{"rank = 7", "not_before = 9223372036854775807", "created_at = -1", "not_before = 1"} {
		t.Run(odd, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.insertForeign("1")
				raw, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=ignore_check_constraints(1)")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := raw.Exec(`UPDATE outbox SET `+odd+` WHERE id = ?`, id); err != nil {
					t.Fatal(err)
				}
				if err := raw.Close(); err != nil {
					t.Fatal(err)
				}
				other := w.put("2", "x")
				w.runFor(time.Minute)
				w.wantState(other, Sent, "")
				if m := w.message(id); m.State == Pending {
					t.Errorf("the row is %s", m.State)
				}
			})
		})
	}
}
