package pattern

import "testing"

// What was published is marked as sent, so further passes leave it alone, however many there are.
func TestASecondPassPublishesNothingTwice(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.place("orders", 2500)
		for range 3 {
			s.pass()
		}
		s.wantPublished(`OrderPlaced {"orderId":1,"totalCents":2500}`)
		if s.broker.calls != 1 {
			t.Errorf("the broker was called %d times", s.broker.calls)
		}
	})
}
