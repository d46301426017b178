package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Link makes alias (customer:<id>, or an address that has moved) stand for target, in place of
// whatever it stood for before. Messages that waited for the link go out, the newest of each
// collapse key alone: the older ones end as superseded. Their age counts from now.
func (o *Outbox) Link(tx database.Tx, now time.Time, alias, target string) error {
	before, err := o.root(tx, alias)
	if err != nil {
		return fmt.Errorf("link %s: %w", alias, err)
	}
	root, err := o.Resolve(tx, target)
	if err != nil {
		return fmt.Errorf("link %s: %w", alias, err)
	}
	if root == "" || root == alias {
		return &ConflictError{ConflictAliasCycle, "an alias needs an address of its own to stand for"}
	}
	if before == root {
		return nil
	}
	if before == alias {
		if err := o.inherit(tx, alias, root); err != nil {
			return fmt.Errorf("link %s: %w", alias, err)
		}
	}
	if err := o.pointTo(tx, alias, root); err != nil {
		return fmt.Errorf("link %s: %w", alias, err)
	}
	t := task{kind: taskMove, address: alias, target: root}
	if before != alias { // it stood for another address, where others' messages may wait too
		last, err := o.lastID(tx)
		if err != nil {
			return err
		}
		t = task{kind: taskRelink, address: before, target: root, detail: alias, upto: last}
	}
	return o.begin(tx, now, t)
}

// inherit lets the address that another one becomes keep what that one has to remember: its gate,
// its pace, and that it has accepted.
func (o *Outbox) inherit(tx database.Tx, from, to string) error {
	old, err := o.Recipient(tx, from)
	if err != nil {
		return err
	}
	if old.stored != "" {
		o.count(tx, chatCount(old.stored), -1)
	}
	if old.GateUntil.IsZero() && old.paceUntil.IsZero() && old.acceptedBy == "" {
		return nil
	}
	r, err := o.Recipient(tx, to)
	if err != nil {
		return err
	}
	if old.GateUntil.After(r.GateUntil) {
		r.GateUntil, r.gateWait = old.GateUntil, old.gateWait
	}
	if old.paceUntil.After(r.paceUntil) {
		r.paceUntil, r.paceWait = old.paceUntil, old.paceWait
	}
	if r.acceptedBy == "" {
		r.acceptedBy = old.acceptedBy
	}
	return o.save(tx, r)
}

// pointTo writes the alias, and keeps the rule that an alias never stands for another alias. Of an
// address that has become an alias nothing else is kept.
func (o *Outbox) pointTo(tx database.Tx, alias, root string) error {
	if _, err := tx.Exec(`UPDATE notifier_recipients SET alias_of = ? WHERE channel = ? AND alias_of = ?`,
		root, o.channel, alias); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO notifier_recipients (channel, address, alias_of) VALUES (?, ?, ?)
		ON CONFLICT (channel, address) DO UPDATE SET alias_of = excluded.alias_of, state = 'open', reason = NULL,
			detail = NULL, since = NULL, gate_until = NULL, gate_wait = 0, flood_step = 0, doubt_step = 0,
			doubt_until = NULL, doubt_wait = 0, pace_until = NULL, pace_wait = 0`,
		o.channel, alias, root)
	o.touch(tx, alias, root)
	return err
}

// Move makes an address an alias of the one that it has become. It changes nothing when the two
// are one already, or when the new one is known as an alias of the old one.
func (o *Outbox) Move(tx database.Tx, now time.Time, from, to string) error {
	root, err := o.Resolve(tx, to)
	if err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	if root == "" || root == from {
		return nil
	}
	return o.Link(tx, now, from, root)
}

// sliceMove moves what waits for an address, in the order of its line.
func (o *Outbox) sliceMove(tx database.Tx, now time.Time, t *task) (bool, error) {
	r, err := o.Recipient(tx, t.target)
	if err != nil {
		return false, err
	}
	list, err := o.messagesBy(tx, waitingAt+`ORDER BY hold, rank, id`, o.channel, t.address)
	if err != nil {
		return false, err
	}
	sending, err := o.messagesBy(tx, `INDEXED BY outbox_sending WHERE channel = ? AND address = ? AND state = 'sending'`,
		o.channel, t.address)
	if err != nil {
		return false, err
	}
	s := newSlice()
	for _, m := range append(sending, list...) {
		if !s.more() {
			return false, nil
		}
		if err := o.moveTo(tx, now, m, r); err != nil {
			return false, err
		}
		t.changed++
	}
	return len(list) < mostRows, nil
}

// sliceRelink walks over the messages of an alias by their ids, and moves those that wait.
func (o *Outbox) sliceRelink(tx database.Tx, now time.Time, t *task) (bool, error) {
	r, err := o.Recipient(tx, t.target)
	if err != nil {
		return false, err
	}
	return o.walk(tx, t, `INDEXED BY outbox_recipient WHERE channel = ? AND recipient = ? AND id > ? ORDER BY id`, t.detail, func(m Message) error {
		if m.State != StatePending && m.State != StateSending || m.line == "" || m.line == r.Address {
			return nil
		}
		t.changed++
		return o.moveTo(tx, now, m, r)
	})
}

// moveTo gives a message that waits, or is being sent, another address. One that waited for a link
// begins to age now, and ends when a newer one of its collapse key waits behind it.
func (o *Outbox) moveTo(tx database.Tx, now time.Time, m Message, r Recipient) error {
	if m.hold == holdNoChat && m.CollapseKey != "" {
		newer, err := o.newerUnlinked(tx, m)
		if err != nil {
			return err
		}
		if newer {
			return o.finish(tx, m, ending{StateCanceled, ReasonSuperseded, "", now})
		}
	}
	if m.State == StatePending && !r.hears(m.rank) {
		state, reason := r.fate()
		return o.finish(tx, m, ending{state, reason, "", now})
	}
	hold, ready, wait, age := m.hold, m.readyAt, m.readyWait, m.ageFrom
	if m.hold == holdNoChat {
		hold, ready, wait, age = holdNone, now, 0, latest(now, m.NotBefore)
		if m.NotBefore.After(now) {
			hold, ready = holdPlanned, m.NotBefore
		}
	}
	_, err := tx.Exec(`UPDATE outbox SET address = ?, hold = ?, ready_at = ?, ready_wait = ?, age_from = ? WHERE id = ?`,
		r.Address, hold, ready.UnixMilli(), wait.Milliseconds(), age.UnixMilli(), m.ID)
	if err != nil {
		return fmt.Errorf("move message %d: %w", m.ID, err)
	}
	o.touch(tx, m.line, r.Address)
	return nil
}

// newerUnlinked says whether a newer message with the same collapse key waits for the same link.
func (o *Outbox) newerUnlinked(tx database.Tx, m Message) (bool, error) {
	var id int64
	err := tx.QueryRow(`SELECT id FROM outbox INDEXED BY outbox_unlinked WHERE channel = ? AND address = ?
		AND state = 'pending' AND address IS NOT NULL AND hold = 2 AND collapse_key IS NOT NULL
		AND collapse_key = ? AND id > ? LIMIT 1`, o.channel, m.line, m.CollapseKey, m.ID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for newer messages than %d: %w", m.ID, err)
	}
	return true, nil
}

// afterAliases is the first text behind all that begin with AliasPrefix.
const afterAliases = "customer;"

// maxAliases is how many aliases of one address are listed.
const maxAliases = 50

// Aliases are the customer:<id> that stand for an address at present, by their text, 50 at most.
func (o *Outbox) Aliases(tx database.Tx, address string) ([]string, error) {
	root, err := o.Resolve(tx, address)
	if err != nil {
		return nil, err
	}
	var list []string
	err = each(tx, func(row database.Row) error {
		var alias string
		err := row.Scan(&alias)
		list = append(list, alias)
		return err
	}, `SELECT address FROM notifier_recipients INDEXED BY notifier_recipients_alias WHERE channel = ? AND alias_of = ?
		AND address >= ? AND address < ? ORDER BY address LIMIT ?`, o.channel, root, AliasPrefix, afterAliases, maxAliases)
	if err != nil {
		return nil, fmt.Errorf("list the aliases of %s: %w", root, err)
	}
	return list, nil
}
