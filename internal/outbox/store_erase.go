package outbox

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Erase forgets who a recipient is: what its messages say, where they went, and the address that
// it stood for. Messages that wait end as canceled, and one that is being sent does so when its
// call is over, unless it was accepted. The rows stay, with their ids, types and times. What there
// is much of goes in slices, see Settle.
//
// What was written straight to the address is about the same person, unless somebody else stands
// for that address too: then only what was written to this recipient goes.
func (o *Outbox) Erase(tx database.Tx, now time.Time, recipient string) (int, error) {
	root, err := o.root(tx, recipient)
	if err != nil {
		return 0, err
	}
	names := []string{recipient}
	if root != recipient {
		others, err := o.others(tx, root, recipient)
		if err != nil {
			return 0, err
		}
		if !others {
			names = append(names, root)
		}
		// The alias goes at once: what comes later is a new acquaintance's.
		if _, err := tx.Exec(`DELETE FROM notifier_recipients WHERE channel = ? AND address = ?`, o.channel, recipient); err != nil {
			return 0, fmt.Errorf("forget what %s stands for: %w", recipient, err)
		}
	}
	last, err := o.lastID(tx)
	if err != nil {
		return 0, err
	}
	o.touch(tx, recipient, root)
	sum := 0
	for _, name := range names {
		var n int
		if err := tx.QueryRow(`SELECT count(*) FROM outbox WHERE channel = ? AND recipient = ?`, o.channel, name).Scan(&n); err != nil {
			return 0, fmt.Errorf("count the messages of %s: %w", recipient, err)
		}
		sum += n
		if err := o.begin(tx, now, task{kind: taskErase, address: name, detail: recipient, upto: last}); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// others says whether somebody else stands for an address, too.
func (o *Outbox) others(tx database.Tx, root, recipient string) (others bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM notifier_recipients WHERE channel = ? AND alias_of = ? AND address <> ?)`,
		o.channel, root, recipient).Scan(&others)
	if err != nil {
		return false, fmt.Errorf("look who else stands for an address: %w", err)
	}
	return others, nil
}

// sliceErase walks over what was written to address, and leaves it as written to detail. At its end
// nothing is remembered of the address.
func (o *Outbox) sliceErase(tx database.Tx, now time.Time, t *task) (bool, error) {
	done, err := o.walk(tx, t, `INDEXED BY outbox_recipient WHERE channel = ? AND recipient = ? AND id > ? ORDER BY id`, t.address, func(m Message) error {
		if m.ID > t.upto {
			return nil
		}
		t.changed++
		return o.eraseOne(tx, now, m, t.detail)
	})
	if !done || err != nil || t.address == t.detail {
		return done, err
	}
	r, err := o.Recipient(tx, t.address)
	if err != nil {
		return false, err
	}
	if r.stored != "" && r.Address == t.address {
		o.count(tx, chatCount(r.stored), -1)
	}
	_, err = tx.Exec(`DELETE FROM notifier_recipients WHERE channel = ? AND address = ?`, o.channel, t.address)
	return true, err
}

func (o *Outbox) eraseOne(tx database.Tx, now time.Time, m Message, name string) error {
	if m.line == "" {
		if err := o.takeInFirst(tx, now, &m); err != nil {
			return err
		}
	}
	if m.State == Pending {
		if err := o.finish(tx, m, ending{Canceled, ReasonCanceled, "", now}); err != nil {
			return err
		}
		m.State = Canceled
	}
	if _, err := tx.Exec(`DELETE FROM notifier_attempts WHERE message_id = ? AND result <> 'open'`, m.ID); err != nil {
		return fmt.Errorf("erase the attempts of message %d: %w", m.ID, err)
	}
	// Until its call is over, a message that is being sent keeps its address: nothing else may go there.
	_, err := tx.Exec(`UPDATE outbox SET recipient = ?1, payload = '{}', detail = NULL,
			address = CASE WHEN state = 'sending' THEN address ELSE ?1 END,
			subject = CASE WHEN rank <> 0 THEN subject END, -- a reply's holds the address
			blanked_at = coalesce(blanked_at, ?2) WHERE id = ?3`, name, now.UnixMilli(), m.ID)
	if err != nil {
		return fmt.Errorf("erase message %d: %w", m.ID, err)
	}
	o.touch(tx, m.line, name)
	return nil
}
