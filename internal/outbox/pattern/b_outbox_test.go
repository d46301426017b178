package pattern

import (
	"testing"
	"time"
)

// The same failure, with an outbox: the event was committed with its order, so it is still there
// when the broker is back, and the relay publishes it.
func TestTheOutboxKeepsTheEvent(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.broker.down = true
		s.place("orders", 2500)

		s.pass()
		s.wantPublished()
		if n := s.waiting(); n != 1 {
			t.Fatalf("%d events wait in the table, want 1", n)
		}

		s.broker.down = false
		time.Sleep(time.Second)
		s.pass()
		s.wantPublished(`OrderPlaced {"orderId":1,"totalCents":2500}`)
		if n := s.waiting(); n != 0 {
			t.Errorf("%d events still wait", n)
		}
	})
}

// Two orders wait: the first pass sends nothing, the second sends both in their order, the third
// finds nothing to do.
func TestThreePasses(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.broker.down = true
		s.place("orders", 2500)
		s.place("orders", 990)

		if r := s.pass(); r.Sent != 0 {
			t.Errorf("the first pass sent %d", r.Sent)
		}

		s.broker.down = false
		time.Sleep(time.Second)
		if r := s.pass(); r.Sent != 2 {
			t.Errorf("the second pass sent %d, want 2", r.Sent)
		}
		s.wantPublished(`OrderPlaced {"orderId":1,"totalCents":2500}`, `OrderPlaced {"orderId":2,"totalCents":990}`)

		if r := s.pass(); r.Attempts != 0 {
			t.Errorf("the third pass made %d attempts", r.Attempts)
		}
	})
}
