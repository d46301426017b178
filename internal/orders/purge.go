package orders

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// keepInvitations is how long an invitation is kept after it was over, so that whoever presses it
// still hears that it is an old one.
const keepInvitations = 30 * 24 * time.Hour

// isOld is the condition in SQL for invitations that have been kept for long enough; its parameter
// is oldAt of now.
const isOld = `expires_at <= ?`

func oldAt(now time.Time) int64 { return now.Add(-keepInvitations).UnixMilli() }

// PurgeInvitations forgets invitations that have been over for 30 days, at most limit of them, and
// says how many.
func (b *Book) PurgeInvitations(tx database.Tx, now time.Time, limit int) (int, error) {
	res, err := tx.Exec(`DELETE FROM notifier_links WHERE token_hash IN
		(SELECT token_hash FROM notifier_links WHERE `+isOld+` LIMIT ?)`, oldAt(now), limit)
	if err != nil {
		return 0, fmt.Errorf("forget old invitations: %w", err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// CountOldInvitations says how many invitations PurgeInvitations would forget.
func (b *Book) CountOldInvitations(tx database.Tx, now time.Time) (n int, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM notifier_links WHERE `+isOld, oldAt(now)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count old invitations: %w", err)
	}
	return n, nil
}
