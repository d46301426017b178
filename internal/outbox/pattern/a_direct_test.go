package pattern

import (
	"errors"
	"testing"

	"notifier/internal/database"
)

// Commit, then publish: between the two lies a moment in which the broker can be down. The order
// is kept, nobody is told of it, and nothing in the database says that somebody should have been.
func TestWritingDirectlyLosesTheEvent(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.broker.down = true

		var placed orderPlaced
		s.write(func(tx database.Tx) (err error) {
			placed, err = insertOrder(tx, 2500)
			return err
		})
		err := s.broker.publish(event{Name: placed.String()})

		if !errors.Is(err, errDown) {
			t.Fatalf("publishing: %v", err)
		}
		if n := s.orders(); n != 1 {
			t.Errorf("%d orders, want the one that was committed", n)
		}

		s.broker.down = false // too late: who would publish it now?
		s.pass()
		s.wantPublished()
	})
}
