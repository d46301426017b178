package orders

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Forgotten is what Forget erased.
type Forgotten struct{ Orders, Messages int }

// Forget erases who a customer is: name, chat, and all texts about them, in orders, messages and
// invitations. Numbers, totals, statuses and times stay, under the shop's own
// customer id.
func (b *Book) Forget(tx database.Tx, now time.Time, customerID string) (Forgotten, error) {
	var f Forgotten
	n, err := b.outbox.Erase(tx, now, Recipient(customerID))
	if err != nil {
		return f, fmt.Errorf("forget customer %s: %w", customerID, err)
	}
	f.Messages = n
	res, err := tx.Exec(`UPDATE notifier_orders SET items = '[]', note = '', status_note = '', tracking_url = '', metadata = '{}'
		WHERE customer_id = ?`, customerID)
	if err != nil {
		return f, fmt.Errorf("forget customer %s: erase their orders: %w", customerID, err)
	}
	orders, err := res.RowsAffected()
	if err != nil {
		return f, err
	}
	f.Orders = int(orders)
	for what, statement := range map[string]string{
		"name":        `UPDATE notifier_customers SET name = '', locale = '' WHERE id = ?`,
		"invitations": `DELETE FROM notifier_links WHERE customer_id = ?`,
	} {
		if _, err := tx.Exec(statement, customerID); err != nil {
			return f, fmt.Errorf("forget customer %s: erase their %s: %w", customerID, what, err)
		}
	}
	return f, nil
}
