package pattern

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// Every order says "1", "2", "3", "4" to its own recipient. Whatever fails on the way, and however
// few rows are read at a time, each recipient hears them in that order.
func TestMessagesOfOneOrderKeepTheirOrder(t *testing.T) {
	for _, batch := range []int{1, 2, 7, 100} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) {
			inShop(t, batch, func(s *shop) {
				random := rand.New(rand.NewPCG(uint64(batch), 1)) //nolint:gosec // a test that can be repeated
				for call := 1; call < 2000; call++ {
					s.broker.failOn[call] = random.IntN(4) == 0
				}
				const orders, steps = 12, 4
				for step := 1; step <= steps; step++ {
					for order := 1; order <= orders; order++ {
						s.say(fmt.Sprint("customer", order), fmt.Sprint(step))
					}
				}
				for range 2000 {
					if s.waiting() == 0 {
						break
					}
					s.pass()
					time.Sleep(time.Second)
				}
				heard := map[string]string{}
				for _, e := range s.broker.delivered {
					heard[e.To] += e.Name
				}
				for order := 1; order <= orders; order++ {
					if got := heard[fmt.Sprint("customer", order)]; got != "1 {}2 {}3 {}4 {}" {
						t.Errorf("customer %d heard %q", order, got)
					}
				}
			})
		})
	}
}

// say enqueues one step of an order.
func (s *shop) say(to, step string) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		_, err := s.box.Enqueue(tx, time.Now(), outbox.NewMessage{Recipient: to, Type: step, Payload: struct{}{}})
		return err
	})
}
