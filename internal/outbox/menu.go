package outbox

import (
	"database/sql"
	"errors"
	"fmt"

	"notifier/internal/database"
)

// Menu is what was last noted with SetMenu; empty when nothing was.
func (o *Outbox) Menu(tx database.Tx) (string, error) {
	var menu sql.NullString
	err := tx.QueryRow(`SELECT menu FROM notifier_senders WHERE channel = ?`, o.channel).Scan(&menu)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the menu's hash: %w", err)
	}
	return menu.String, nil
}

// SetMenu notes which commands menu the channel was given, as a hash.
func (o *Outbox) SetMenu(tx database.Tx, hash string) error {
	_, err := tx.Exec(`INSERT INTO notifier_senders (channel, menu) VALUES (?, ?)
		ON CONFLICT (channel) DO UPDATE SET menu = excluded.menu`, o.channel, hash)
	if err != nil {
		return fmt.Errorf("store the menu's hash: %w", err)
	}
	return nil
}
