package outbox

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Retention says how long what has ended is kept, counted from its end.
type Retention struct {
	Sent time.Duration // until a sent message's content is erased
	Dead time.Duration // the same for dead, uncertain and canceled ones
	Keys time.Duration // until the erased row goes too, with its idempotency key
}

// PurgeReport is what a purge did, or with a dry run would do.
type PurgeReport struct {
	Blanked int // messages whose content was erased
	Removed int // messages whose row was removed
	Pauses  int // pauses by a person that no message remembers any more
}

// Purge erases the content of what ended long ago – payload, details and attempts – and later
// removes the rows. Messages that have not ended are never touched, whatever their age. It can be
// cut off at any time, and goes on where it was at the next call.
func (o *Outbox) Purge(ctx context.Context, db *database.DB, now time.Time, r Retention, dryRun bool) (PurgeReport, error) {
	if dryRun {
		return o.countPurge(ctx, db, now, r)
	}
	var report PurgeReport
	var done cursor
	_, err := db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return o.blank(tx, now, r, limit, &done, &report.Blanked)
	})
	if err != nil {
		return report, fmt.Errorf("erase old messages: %w", err)
	}
	report.Removed, err = db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return o.remove(tx, now, r, limit)
	})
	if err != nil {
		return report, fmt.Errorf("remove old messages: %w", err)
	}
	report.Pauses, err = db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return o.forgetPauses(tx, now, r, limit)
	})
	if err != nil {
		return report, fmt.Errorf("forget old pauses: %w", err)
	}
	return report, nil
}

// cursor is how far a purge has come in the order of ends.
type cursor struct{ endedAt, id int64 }

// purgeable looks at the next limit messages that have ended long ago and not been erased, and returns how
// many those were and the ids of those whose content goes: dead ones are kept longer than sent ones, or
// shorter, and what is kept must not be looked at again in the next step.
func (o *Outbox) purgeable(tx database.Tx, now time.Time, r Retention, limit int, last *cursor) (looked int, ids []int64, err error) {
	sent, dead := now.Add(-r.Sent).UnixMilli(), now.Add(-r.Dead).UnixMilli()
	err = each(tx, func(row database.Row) error {
		var state State
		err := row.Scan(&last.id, &last.endedAt, &state)
		looked++
		if state == StateSent && last.endedAt <= sent || state != StateSent && last.endedAt <= dead {
			ids = append(ids, last.id)
		}
		return err
	}, `SELECT id, ended_at, state FROM outbox INDEXED BY outbox_ended WHERE channel = ? AND blanked_at IS NULL
		AND ended_at IS NOT NULL AND ended_at <= ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?`,
		o.channel, max(sent, dead), last.endedAt, last.id, limit)
	return looked, ids, err
}

// blank erases the content of the next messages. It returns how many it looked at, and adds to erased.
func (o *Outbox) blank(tx database.Tx, now time.Time, r Retention, limit int, last *cursor, erased *int) (int, error) {
	looked, ids, err := o.purgeable(tx, now, r, limit, last)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if _, err := tx.Exec(`UPDATE outbox SET payload = '{}', detail = NULL, blanked_at = ? WHERE id = ?`, now.UnixMilli(), id); err != nil {
			return 0, err
		}
		if _, err := tx.Exec(`DELETE FROM notifier_attempts WHERE message_id = ?`, id); err != nil {
			return 0, err
		}
	}
	*erased += len(ids)
	return looked, nil
}

func (o *Outbox) remove(tx database.Tx, now time.Time, r Retention, limit int) (int, error) {
	type gone struct {
		id int64
		c  counted
	}
	var list []gone
	err := each(tx, func(row database.Row) error {
		g := gone{c: counted{kind: "message"}}
		err := row.Scan(&g.id, &g.c.state, &g.c.reason)
		list = append(list, g)
		return err
	}, `SELECT id, state, coalesce(reason, '') FROM outbox INDEXED BY outbox_blanked
		WHERE channel = ? AND blanked_at IS NOT NULL AND ended_at <= ? ORDER BY ended_at LIMIT ?`,
		o.channel, now.Add(-r.Keys).UnixMilli(), limit)
	if err != nil {
		return 0, err
	}
	for _, g := range list {
		if _, err := tx.Exec(`DELETE FROM outbox WHERE id = ?`, g.id); err != nil {
			return 0, err
		}
		o.count(tx, g.c, -1)
	}
	return len(list), nil
}

// oldPauses chooses pauses that were over before anything that waits began to age: a pause only
// matters for the age of messages.
const oldPauses = `channel = ?1 AND ended_at <= ?2 AND ended_at < min(
	coalesce((SELECT min(age_from) FROM outbox WHERE channel = ?1 AND hold = 0 AND ` + agesBy + `), ?2 + 1),
	coalesce((SELECT min(age_from) FROM outbox WHERE channel = ?1 AND hold = 1 AND ` + agesBy + `), ?2 + 1),
	coalesce((SELECT min(age_from) FROM outbox WHERE channel = ?1 AND hold = 2 AND ` + agesBy + `), ?2 + 1))`

func (o *Outbox) forgetPauses(tx database.Tx, now time.Time, r Retention, limit int) (int, error) {
	res, err := tx.Exec(`DELETE FROM notifier_pauses WHERE rowid IN
		(SELECT rowid FROM notifier_pauses WHERE `+oldPauses+` LIMIT ?3)`, o.channel, now.Add(-r.Keys).UnixMilli(), limit)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// countPurge counts in pages, so that no statement holds the reader for long.
func (o *Outbox) countPurge(ctx context.Context, db *database.DB, now time.Time, r Retention) (PurgeReport, error) {
	var report PurgeReport
	var erased, removed cursor
	keys := now.Add(-r.Keys).UnixMilli()
	for _, count := range []func(tx database.Tx) (int, error){
		func(tx database.Tx) (int, error) {
			looked, ids, err := o.purgeable(tx, now, r, countPage, &erased)
			report.Blanked += len(ids)
			return looked, err
		},
		func(tx database.Tx) (int, error) {
			n, err := o.removable(tx, keys, countPage, &removed)
			report.Removed += n
			return n, err
		},
		func(tx database.Tx) (int, error) {
			return 0, tx.QueryRow(`SELECT count(*) FROM notifier_pauses WHERE `+oldPauses, o.channel, keys).Scan(&report.Pauses)
		},
	} {
		for more := true; more; {
			err := db.Read(ctx, func(tx database.Tx) error {
				n, err := count(tx)
				more = n == countPage
				return err
			})
			if err != nil {
				return report, fmt.Errorf("count old messages: %w", err)
			}
		}
	}
	return report, nil
}

// countPage is how many rows one transaction counts.
const countPage = 2000

// removable counts the next limit rows that a purge would remove.
func (o *Outbox) removable(tx database.Tx, before int64, limit int, last *cursor) (n int, err error) {
	err = each(tx, func(row database.Row) error {
		n++
		return row.Scan(&last.endedAt, &last.id)
	}, `SELECT ended_at, id FROM outbox INDEXED BY outbox_blanked WHERE channel = ? AND blanked_at IS NOT NULL
		AND ended_at <= ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?`, o.channel, before, last.endedAt, last.id, limit)
	return n, err
}

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
	if m.State == StatePending {
		if err := o.finish(tx, m, ending{StateCanceled, ReasonCanceled, "", now}); err != nil {
			return err
		}
		m.State = StateCanceled
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
