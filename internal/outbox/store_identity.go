package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// A copy of a database would send everything that waits in it a second time, if the original goes
// on, or what was sent long ago, if it is an old backup. So a file that is marked as a backup, or
// that another machine or another file has sent from, begins with a pause that a person ends.

// place is which machine's which file a database is, see database.Place.
type place struct {
	machine string // empty: unknown
	inode   int64  // 0: unknown
}

// copyOf says whether p is a copy of what sent last. What is not known of either proves nothing.
func (p place) copyOf(last place) bool {
	otherMachine := p.machine != "" && last.machine != "" && p.machine != last.machine
	otherFile := p.inode != 0 && last.inode != 0 && p.inode != last.inode
	return otherMachine || otherFile
}

// MarkCopy marks a database as a backup, in a transaction of the copy.
func (o *Outbox) MarkCopy(tx database.Tx, now time.Time) error {
	_, err := tx.Exec(`INSERT INTO notifier_senders (channel, copied_at) VALUES (?1, ?2)
		ON CONFLICT (channel) DO UPDATE SET copied_at = ?2`, o.channel, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("mark the copy: %w", err)
	}
	return nil
}

// holdCopy pauses the sender when the database is a copy, and otherwise remembers its place. It
// returns how many messages a copy would send.
func (o *Outbox) holdCopy(tx database.Tx, now time.Time, here place) (waiting int, err error) {
	s, err := o.sender(tx)
	if err != nil {
		return 0, err
	}
	if s.copiedAt.IsZero() && !here.copyOf(s.place) {
		return 0, o.remember(tx, here)
	}
	if !s.pausedAt.IsZero() {
		return 0, nil
	}
	if waiting, err = o.waiting(tx); err != nil {
		return 0, err
	}
	if err := o.MarkCopy(tx, now); err != nil {
		return 0, err
	}
	return waiting, o.Pause(tx, now)
}

// remember stores where the database is that sends.
func (o *Outbox) remember(tx database.Tx, here place) error {
	_, err := tx.Exec(`UPDATE notifier_senders SET machine = ?1, inode = ?2
		WHERE channel = ?3 AND (machine IS NOT ?1 OR inode IS NOT ?2)`, orNull(here.machine), orZero(here.inode), o.channel)
	if err != nil {
		return fmt.Errorf("remember where the database is: %w", err)
	}
	return nil
}

// IsCopy says whether the sender is paused because the database is a copy, and how many messages
// would go if it were resumed.
func (o *Outbox) IsCopy(tx database.Tx, machine string, inode int64) (copied bool, waiting int, err error) {
	s, err := o.sender(tx)
	if err != nil {
		return false, 0, err
	}
	if s.copiedAt.IsZero() && !(place{machine, inode}).copyOf(s.place) {
		return false, 0, nil
	}
	waiting, err = o.waiting(tx)
	return true, waiting, err
}

// Identity is who has sent for this database; empty when nobody has.
func (o *Outbox) Identity(tx database.Tx) (string, error) {
	s, err := o.sender(tx)
	return s.identity, err
}

// CheckIdentity says in an error that wraps ErrIdentity that another identity has sent for this
// database: then nothing may be asked of the channel.
func (o *Outbox) CheckIdentity(tx database.Tx, identity string) error {
	known, err := o.Identity(tx)
	if err != nil || known == "" || known == identity {
		return err
	}
	return otherIdentity(known, identity)
}

func otherIdentity(known, identity string) error {
	return fmt.Errorf("%w: it has sent as bot %s, and the token is of bot %s; "+
		"give it the right token, or start once with --accept-new-bot", ErrIdentity, known, identity)
}

// Guarded says whether the guard against mass death holds.
func (o *Outbox) Guarded(tx database.Tx) (bool, error) {
	s, err := o.sender(tx)
	return !s.guard.IsZero(), err
}

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
