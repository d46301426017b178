package pattern

import (
	"context"
	"errors"
	"testing"
	"time"

	"notifier/internal/outbox"
)

// The relay of the textbook has one queue: whatever fails stops everything behind it, since all
// events must stay in one order. Messages to people need order only for each recipient. So there
// are two kinds of failure here. When the channel as a whole fails, trying the next message would
// only fail too: the pass ends and says why.
func TestAFailureOfTheChannelEndsThePass(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.broker.down = true
		for _, to := range []string{"anna", "boris", "clara", "dmitri", "emma", "fyodor"} {
			s.place(to, 100)
		}

		_, err := s.relay.Dispatch(context.Background())

		if !errors.Is(err, outbox.ErrOutage) {
			t.Errorf("the pass ended with %v, want ErrOutage", err)
		}
		if s.broker.calls == 6 {
			t.Error("it went on to the last message although the broker was down")
		}
	})
}

// When one recipient fails, the others are none of its business: their messages go. Its own later
// messages wait behind the one that failed, or they would overtake it.
func TestAFailureOfOneRecipientStopsOnlyItsOwnQueue(t *testing.T) {
	inShop(t, 100, func(s *shop) {
		s.broker.failTo = "boris"
		s.place("anna", 1)
		s.place("boris", 2)
		s.place("boris", 3)
		s.place("clara", 4)

		s.pass()
		s.wantPublished(`OrderPlaced {"orderId":1,"totalCents":1}`, `OrderPlaced {"orderId":4,"totalCents":4}`)

		s.broker.failTo = ""
		time.Sleep(2 * time.Second)
		s.pass()
		s.wantPublished(`OrderPlaced {"orderId":1,"totalCents":1}`, `OrderPlaced {"orderId":4,"totalCents":4}`,
			`OrderPlaced {"orderId":2,"totalCents":2}`, `OrderPlaced {"orderId":3,"totalCents":3}`)
	})
}
