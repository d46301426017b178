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
	var err error
	var last cursor
	report.Blanked, err = db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return o.blank(tx, now, r, limit, &last)
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

// purgeable chooses what has ended so long ago that its content goes.
const purgeable = `INDEXED BY outbox_ended WHERE channel = ? AND blanked_at IS NULL AND ended_at IS NOT NULL AND ended_at <= ?
	AND (state = 'sent' AND ended_at <= ? OR state IN ('dead', 'uncertain', 'canceled') AND ended_at <= ?)`

func (o *Outbox) purgeableArgs(now time.Time, r Retention) []any {
	sent, dead := now.Add(-r.Sent).UnixMilli(), now.Add(-r.Dead).UnixMilli()
	return []any{o.channel, max(sent, dead), sent, dead}
}

// cursor is how far a purge has come in the order of ends. What it passes over – dead messages that are
// kept for longer than sent ones – must not be looked at again in each step.
type cursor struct{ endedAt, id int64 }

func (o *Outbox) blank(tx database.Tx, now time.Time, r Retention, limit int, last *cursor) (int, error) {
	var ids []int64
	err := each(tx, func(row database.Row) error {
		err := row.Scan(&last.id, &last.endedAt)
		ids = append(ids, last.id)
		return err
	}, `SELECT id, ended_at FROM outbox `+purgeable+`
		AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?`,
		append(o.purgeableArgs(now, r), last.endedAt, last.id, limit)...)
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
	return len(ids), nil
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

func (o *Outbox) countPurge(ctx context.Context, db *database.DB, now time.Time, r Retention) (PurgeReport, error) {
	var report PurgeReport
	err := db.Read(ctx, func(tx database.Tx) error {
		err := tx.QueryRow(`SELECT count(*) FROM outbox `+purgeable, o.purgeableArgs(now, r)...).Scan(&report.Blanked)
		if err != nil {
			return err
		}
		err = tx.QueryRow(`SELECT count(*) FROM outbox WHERE channel = ? AND blanked_at IS NOT NULL AND ended_at <= ?`,
			o.channel, now.Add(-r.Keys).UnixMilli()).Scan(&report.Removed)
		if err != nil {
			return err
		}
		return tx.QueryRow(`SELECT count(*) FROM notifier_pauses WHERE `+oldPauses,
			o.channel, now.Add(-r.Keys).UnixMilli()).Scan(&report.Pauses)
	})
	if err != nil {
		return report, fmt.Errorf("count old messages: %w", err)
	}
	return report, nil
}
