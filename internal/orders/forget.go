package orders

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Forgotten is what Forget erased.
type Forgotten struct{ Orders, Messages int }

// ForgetOrders erases the texts of a customer's orders, limit of them at most, and returns how many
// there were. It is to be called until there are fewer, and before Forget: a customer may have
// more orders than one transaction should touch.
func (b *Book) ForgetOrders(tx database.Tx, customerID string, limit int) (int, error) {
	res, err := tx.Exec(`UPDATE notifier_orders SET items = '[]', note = '', status_note = '', tracking_url = '', metadata = '{}'
		WHERE id IN (SELECT id FROM notifier_orders WHERE customer_id = ? AND (items <> '[]' OR note <> ''
			OR status_note <> '' OR tracking_url <> '' OR metadata <> '{}') LIMIT ?)`, customerID, limit)
	if err != nil {
		return 0, fmt.Errorf("forget customer %s: erase their orders: %w", customerID, err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

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
	if err := tx.QueryRow(`SELECT count(*) FROM notifier_orders WHERE customer_id = ?`, customerID).Scan(&f.Orders); err != nil {
		return f, fmt.Errorf("forget customer %s: count their orders: %w", customerID, err)
	}
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
