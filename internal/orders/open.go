package orders

import (
	"cmp"
	"fmt"
	"slices"

	"notifier/internal/database"
)

// isOpen is the condition in SQL for orders that are still on their way.
const isOpen = `status IN ('placed', 'paid', 'ready', 'shipped')`

// Open reads the newest open orders of some customers, and counts all of them.
func (b *Book) Open(tx database.Tx, customerIDs []string, limit int) (newest []Order, total int, err error) {
	for _, id := range customerIDs {
		list, err := b.list(tx, "WHERE customer_id = ? AND "+isOpen+" ORDER BY id DESC LIMIT ?", id, limit)
		if err != nil {
			return nil, 0, err
		}
		var n int
		err = tx.QueryRow(`SELECT count(*) FROM notifier_orders WHERE customer_id = ? AND `+isOpen, id).Scan(&n)
		if err != nil {
			return nil, 0, fmt.Errorf("count the open orders of customer %s: %w", id, err)
		}
		newest, total = append(newest, list...), total+n
	}
	slices.SortFunc(newest, func(a, b Order) int { return cmp.Compare(b.ID, a.ID) })
	return newest[:min(limit, len(newest))], total, nil
}

// Customer reads a customer; one that nobody has mentioned has nothing but the id.
func (b *Book) Customer(tx database.Tx, id string) (Customer, error) { return customer(tx, id) }
