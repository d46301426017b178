package outbox

import (
	"fmt"
	"testing"
	"time"

	"notifier/internal/database"
)

// A program inserts more rows than a round takes in; the last is for a customer to whom an order's
// message follows at once. Order holds, by whatever name the row calls the customer.
func TestAnOrderDoesNotOvertakeARowOfACrowd(t *testing.T) {
	for _, name := range []string{"7", "customer:c-7"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:c-7", "7") })
				w.write(func(tx database.Tx) error {
					insert := func(recipient, text string, notBefore any) error {
						_, err := tx.Exec(`INSERT INTO outbox (recipient, type, payload, not_before) VALUES (?, 'Text', json_object('text', ?), ?)`,
							recipient, text, notBefore)
						return err
					}
					for i := range 2 * mostRows {
						if err := insert(fmt.Sprint(1000+i), "x", time.Now().Add(time.Hour).UnixMilli()); err != nil {
							return err
						}
					}
					return insert(name, "first", nil)
				})
				w.put("7", "second")
				w.runFor(time.Minute)
				w.wantTexts("7", "first", "second")
			})
		})
	}
}
