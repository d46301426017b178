package outbox

import (
	"context"
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

// holdCopy pauses the sender when the database is a copy, and otherwise remembers its place.
func (d *Dispatcher) holdCopy(ctx context.Context) error {
	machine, inode, err := d.db.Place()
	if err != nil {
		return err
	}
	here := place{machine, inode}
	waiting := 0
	err = d.db.Write(ctx, func(tx database.Tx) error {
		s, err := d.box.sender(tx)
		if err != nil {
			return err
		}
		if s.copiedAt.IsZero() && !here.copyOf(s.place) {
			if here == s.place {
				return nil
			}
			_, err := tx.Exec(`UPDATE notifier_senders SET machine = ?, inode = ? WHERE channel = ?`,
				orNull(here.machine), orZero(here.inode), d.box.channel)
			return err
		}
		if !s.pausedAt.IsZero() {
			return nil
		}
		if waiting, err = d.box.waiting(tx); err != nil {
			return err
		}
		if err := d.box.MarkCopy(tx, time.Now()); err != nil {
			return err
		}
		return d.box.Pause(tx, time.Now())
	})
	if err != nil {
		return fmt.Errorf("look whether the database is a copy: %w", err)
	}
	if waiting > 0 {
		d.log.Warn("this database is a copy: sending is paused until somebody resumes it", "waiting", waiting)
	}
	return nil
}

// waiting is how many messages have not ended.
func (o *Outbox) waiting(tx database.Tx) (n int, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM outbox INDEXED BY outbox_waiting
		WHERE channel = ? AND state IN ('pending', 'sending')`, o.channel).Scan(&n)
	return n, err
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
