package pattern

import (
	"context"
	"errors"
	"testing"

	"notifier/internal/database"
)

// Order and event are one transaction. Whatever fails in it – here, a rule of the shop that is
// checked last – takes both back: no event tells of an order that does not exist.
func TestAnErrorTakesBackOrderAndEvent(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		errTooCheap := errors.New("below the minimum")

		err := s.db.Write(context.Background(), func(tx database.Tx) error {
			e, err := insertOrder(tx, 1)
			if err != nil {
				return err
			}
			if err := s.enqueue(tx, "orders", e); err != nil {
				return err
			}
			return errTooCheap
		})

		if !errors.Is(err, errTooCheap) {
			t.Fatalf("the transaction ended with %v", err)
		}
		if n := s.orders(); n != 0 {
			t.Errorf("%d orders remain", n)
		}
		if n := s.waiting(); n != 0 {
			t.Errorf("%d events remain", n)
		}
		s.pass()
		s.wantPublished()
	})
}
