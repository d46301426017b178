package pattern

import (
	"testing"
	"time"
)

// The broker took the event, and its answer was lost. Nobody can tell this from an event that got
// lost on the way, so it is sent once more: at least once is all that an outbox can promise.
func TestALostAnswerIsDeliveredTwice(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.broker.loseOn[1] = true
		s.place("orders", 2500)

		s.pass()
		time.Sleep(time.Minute)
		s.pass()

		placed := `OrderPlaced {"orderId":1,"totalCents":2500}`
		s.wantPublished(placed, placed)
		if n := s.waiting(); n != 0 {
			t.Errorf("%d events still wait", n)
		}

		// Both copies carry the id of the same row. A consumer that remembers the ids it has
		// acted on acts once.
		done := map[int64]bool{}
		parcels := 0
		for _, e := range s.broker.delivered {
			if !done[e.ID] {
				done[e.ID] = true
				parcels++
			}
		}
		if parcels != 1 {
			t.Errorf("the consumer packed %d parcels", parcels)
		}
	})
}
