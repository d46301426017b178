package idempotency

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Purge forgets keys that were stored before an instant, at most limit of them, and says how many.
func Purge(tx database.Tx, before time.Time, limit int) (int, error) {
	res, err := tx.Exec(`DELETE FROM notifier_keys WHERE (scope, key) IN
		(SELECT scope, key FROM notifier_keys WHERE created_at <= ? LIMIT ?)`, before.UnixMilli(), limit)
	if err != nil {
		return 0, fmt.Errorf("forget old idempotency keys: %w", err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// ForgetCustomer forgets the keys whose first response is about a customer, as its customerId says,
// at most limit of them, and says how many. The same request again is then a new one.
func ForgetCustomer(tx database.Tx, customerID string, limit int) (int, error) {
	// The words of the index notifier_keys_customer.
	res, err := tx.Exec(`DELETE FROM notifier_keys WHERE (scope, key) IN (SELECT scope, key FROM notifier_keys
		WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.customerId') END = ? LIMIT ?)`, customerID, limit)
	if err != nil {
		return 0, fmt.Errorf("forget idempotency keys of customer %s: %w", customerID, err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// CountOld says how many keys Purge would forget.
func CountOld(tx database.Tx, before time.Time) (n int, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM notifier_keys WHERE created_at <= ?`, before.UnixMilli()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count old idempotency keys: %w", err)
	}
	return n, nil
}
