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

// Gates says until when the whole channel, and the recipient that has to wait longest, are gated;
// zero without a gate.
func (o *Outbox) Gates(tx database.Tx, now time.Time) (channel, recipient time.Time, err error) {
	s, err := o.sender(tx)
	if err != nil {
		return channel, recipient, err
	}
	if s.gateUntil.After(now) {
		channel = s.gateUntil
	}
	var longest sql.NullInt64
	err = tx.QueryRow(`SELECT max(gate_until) FROM notifier_recipients
		WHERE channel = ? AND gate_until IS NOT NULL AND gate_until > ?`,
		o.channel, now.UnixMilli()).Scan(&longest)
	if err != nil {
		return channel, recipient, fmt.Errorf("find the longest gate: %w", err)
	}
	return channel, instant(longest), nil
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

// pauses are the times during which a person had paused the sender, the present one included.
func (o *Outbox) pauses(tx database.Tx) (pauses, error) {
	var list pauses
	err := each(tx, func(row database.Row) error {
		var from, to sql.NullInt64
		if err := row.Scan(&from, &to); err != nil {
			return err
		}
		list = append(list, pause{instant(from), instant(to)})
		return nil
	}, `SELECT started_at, ended_at FROM notifier_pauses WHERE channel = ?1
		UNION ALL SELECT paused_at, NULL FROM notifier_senders WHERE channel = ?1 AND paused_at IS NOT NULL
		ORDER BY 1`, o.channel)
	if err != nil {
		return nil, fmt.Errorf("read the pauses: %w", err)
	}
	return list, nil
}
