package orders

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// PurgeInvitations forgets invitations that were over before an instant, at most limit of them, and
// says how many.
func (b *Book) PurgeInvitations(tx database.Tx, before time.Time, limit int) (int, error) {
	res, err := tx.Exec(`DELETE FROM notifier_links WHERE token_hash IN
		(SELECT token_hash FROM notifier_links WHERE expires_at <= ? LIMIT ?)`, before.UnixMilli(), limit)
	if err != nil {
		return 0, fmt.Errorf("forget old invitations: %w", err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// CountOldInvitations says how many invitations PurgeInvitations would forget.
func (b *Book) CountOldInvitations(tx database.Tx, before time.Time) (n int, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM notifier_links WHERE expires_at <= ?`, before.UnixMilli()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count old invitations: %w", err)
	}
	return n, nil
}
