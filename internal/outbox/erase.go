package outbox

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Erase forgets who a recipient is: what its messages say, where they went, and the address that
// it stood for. Messages that wait end as canceled. The rows stay, with their ids, types and
// times. It returns the number of messages.
//
// What was written straight to the address is about the same person, unless somebody else stands
// for that address too: then only what was written to this recipient goes.
func (o *Outbox) Erase(tx database.Tx, now time.Time, recipient string) (int, error) {
	address, err := o.Resolve(tx, recipient)
	if err != nil {
		return 0, err
	}
	others, err := o.count(tx, `SELECT count(*) FROM notifier_recipients
		WHERE channel = ? AND alias_of = ? AND address <> ?`, o.channel, address, recipient)
	if err != nil {
		return 0, err
	}
	if address == "" || others > 0 {
		address = recipient
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'canceled', reason = 'canceled', ended_at = ?
		WHERE channel = ? AND recipient IN (?, ?) AND state = 'pending'`, now.UnixMilli(), o.channel, recipient, address)
	if err != nil {
		return 0, fmt.Errorf("cancel what waits for %s: %w", recipient, err)
	}
	_, err = tx.Exec(`DELETE FROM notifier_attempts WHERE result <> 'open' AND message_id IN
		(SELECT id FROM outbox WHERE channel = ? AND recipient IN (?, ?))`, o.channel, recipient, address)
	if err != nil {
		return 0, fmt.Errorf("erase the attempts of %s: %w", recipient, err)
	}
	res, err := tx.Exec(`UPDATE outbox SET recipient = ?, payload = '{}', detail = NULL, sent_to = NULL,
			subject = CASE WHEN `+notAnswer+` THEN subject END, -- an answer's holds the address
			blanked_at = coalesce(blanked_at, ?) WHERE channel = ? AND recipient IN (?, ?)`,
		recipient, now.UnixMilli(), o.channel, recipient, address)
	if err != nil {
		return 0, fmt.Errorf("erase the messages of %s: %w", recipient, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(`DELETE FROM notifier_recipients WHERE channel = ? AND address IN (?, ?)`, o.channel, recipient, address)
	if err != nil {
		return 0, fmt.Errorf("forget the address of %s: %w", recipient, err)
	}
	return int(n), nil
}
