package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// senderRow is what is stored of the sender of a channel.
type senderRow struct {
	identity  string
	pausedAt  time.Time
	gateUntil time.Time
	gateWait  time.Duration
	state     string // running, waiting or stopped
	reason    string
	until     time.Time
	holder    string    // which process sends
	guard     time.Time // since when the guard against mass death holds
	place     place     // whose file this was when it last sent
	copiedAt  time.Time // of a backup
}

func (o *Outbox) sender(tx database.Tx) (senderRow, error) {
	var s senderRow
	var identity, holder, reason, machine sql.NullString
	var paused, gateUntil, gateWait, until, guard, inode, copied sql.NullInt64
	err := tx.QueryRow(`SELECT identity, holder, paused_at, gate_until, gate_wait, state, reason, until, guard_since,
			machine, inode, copied_at
		FROM notifier_senders WHERE channel = ?`, o.channel).
		Scan(&identity, &holder, &paused, &gateUntil, &gateWait, &s.state, &reason, &until, &guard,
			&machine, &inode, &copied)
	if errors.Is(err, sql.ErrNoRows) {
		return senderRow{state: SenderRunning}, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the sender's state: %w", err)
	}
	s.identity, s.holder, s.reason = identity.String, holder.String, reason.String
	s.pausedAt, s.gateUntil, s.until = instant(paused), instant(gateUntil), instant(until)
	s.guard, s.copiedAt, s.place = instant(guard), instant(copied), place{machine.String, inode.Int64}
	s.gateWait = time.Duration(gateWait.Int64) * time.Millisecond
	return s, nil
}

// Status says what holds up the whole channel. A person's pause comes before everything else.
func (o *Outbox) Status(tx database.Tx, now time.Time) (SenderStatus, error) {
	s, err := o.sender(tx)
	if err != nil {
		return SenderStatus{}, err
	}
	switch {
	case !s.pausedAt.IsZero() && !s.copiedAt.IsZero():
		return SenderStatus{State: SenderPaused, Reason: "this database is a copy; resume it once the original sends no more"}, nil
	case !s.pausedAt.IsZero():
		return SenderStatus{State: SenderPaused, Reason: "paused by a person since " + s.pausedAt.Format(time.RFC3339)}, nil
	case s.state == SenderStopped:
		return SenderStatus{State: SenderStopped, Reason: s.reason, Until: s.until}, nil
	case s.gateUntil.After(now):
		return SenderStatus{State: SenderWaiting, Reason: o.title() + " asked us to wait", Until: s.gateUntil}, nil
	case s.state == SenderWaiting:
		return SenderStatus{State: SenderWaiting, Reason: s.reason, Until: s.until}, nil
	}
	return SenderStatus{State: SenderRunning}, nil
}

// Pause stops sending until Resume, across restarts. Calls under way are finished.
func (o *Outbox) Pause(tx database.Tx, now time.Time) error {
	_, err := tx.Exec(`INSERT INTO notifier_senders (channel, paused_at) VALUES (?1, ?2)
		ON CONFLICT (channel) DO UPDATE SET paused_at = coalesce(paused_at, ?2)`, o.channel, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("pause the sender: %w", err)
	}
	return nil
}

// Resume ends a pause, and accepts a copy as the database that sends from now on: this file (inode;
// 0: unknown) on this machine, see database.Place. Messages do not grow older by the length of the pause.
func (o *Outbox) Resume(tx database.Tx, now time.Time, machine string, inode int64) error {
	_, err := tx.Exec(`INSERT INTO notifier_pauses (channel, started_at, ended_at)
		SELECT channel, paused_at, max(paused_at, ?) FROM notifier_senders WHERE channel = ? AND paused_at IS NOT NULL`,
		now.UnixMilli(), o.channel)
	if err != nil {
		return fmt.Errorf("resume the sender: %w", err)
	}
	_, err = tx.Exec(`UPDATE notifier_senders SET paused_at = NULL, copied_at = NULL WHERE channel = ?`, o.channel)
	if err != nil {
		return fmt.Errorf("resume the sender: %w", err)
	}
	return o.remember(tx, place{machine, inode})
}

// ReleaseSender lifts the gate of the whole channel, and ends the guard against mass death.
func (o *Outbox) ReleaseSender(tx database.Tx, _ time.Time) error {
	_, err := tx.Exec(`UPDATE notifier_senders SET gate_until = NULL, gate_wait = 0,
			state = CASE WHEN guard_since IS NULL THEN state ELSE 'running' END,
			reason = CASE WHEN guard_since IS NULL THEN reason END,
			until = CASE WHEN guard_since IS NULL THEN until END,
			guard_since = NULL
		WHERE channel = ?`, o.channel)
	if err != nil {
		return fmt.Errorf("release the sender: %w", err)
	}
	return nil
}

// AcceptIdentity lets the channel's messages be sent by another identity than before.
func (o *Outbox) AcceptIdentity(tx database.Tx, identity string) error {
	_, err := tx.Exec(`UPDATE notifier_senders SET identity = ?, state = 'running', reason = NULL, until = NULL
		WHERE channel = ?`, identity, o.channel)
	if err != nil {
		return fmt.Errorf("accept the bot: %w", err)
	}
	return nil
}

// claim remembers who we are when nobody was remembered, and that this process (holder) sends from
// now on. It says who is remembered: when that is another identity, nothing may be sent.
func (o *Outbox) claim(tx database.Tx, identity, holder string) (string, error) {
	var remembered string
	err := tx.QueryRow(`INSERT INTO notifier_senders (channel, identity, holder) VALUES (?, ?, ?)
		ON CONFLICT (channel) DO UPDATE SET identity = coalesce(identity, excluded.identity), holder = excluded.holder
		RETURNING identity`, o.channel, identity, holder).Scan(&remembered)
	if err != nil {
		return "", fmt.Errorf("remember the bot: %w", err)
	}
	return remembered, nil
}

// Register makes the channel known, so that messages for it are taken.
func (o *Outbox) Register(tx database.Tx) error {
	_, err := tx.Exec(`INSERT INTO notifier_channels (name) VALUES (?) ON CONFLICT (name) DO NOTHING`, o.channel)
	if err != nil {
		return fmt.Errorf("register the channel %s: %w", o.channel, err)
	}
	return nil
}

// report writes what holds up the whole channel, for other processes to see.
func (o *Outbox) report(tx database.Tx, state, reason string, until time.Time) error {
	_, err := tx.Exec(`INSERT INTO notifier_senders (channel, state, reason, until) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel) DO UPDATE SET state = excluded.state, reason = excluded.reason, until = excluded.until`,
		o.channel, state, orNull(reason), millis(until))
	if err != nil {
		return fmt.Errorf("store the sender's state: %w", err)
	}
	return nil
}

// gateSender stores the gate of the whole channel.
func (o *Outbox) gateSender(tx database.Tx, until time.Time, wait time.Duration) error {
	_, err := tx.Exec(`UPDATE notifier_senders SET gate_until = ?, gate_wait = ? WHERE channel = ?`,
		millis(until), wait.Milliseconds(), o.channel)
	if err != nil {
		return fmt.Errorf("store the sender's gate: %w", err)
	}
	return nil
}

// setGuard stores since when the guard holds; zero: it does not.
func (o *Outbox) setGuard(tx database.Tx, since time.Time) error {
	_, err := tx.Exec(`UPDATE notifier_senders SET guard_since = ? WHERE channel = ?`, millis(since), o.channel)
	if err != nil {
		return fmt.Errorf("store the guard: %w", err)
	}
	return nil
}

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
