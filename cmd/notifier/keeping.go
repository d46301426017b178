package main

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/idempotency"
	"notifier/internal/outbox"
)

// invitesKept is how long an invitation is kept after it was over, so that whoever presses it still
// hears that it is an old one.
const invitesKept = 30 * 24 * time.Hour

// purged is what a purge did, or with a dry run would do.
type purged struct {
	Erased      int  `json:"erased"`      // messages whose content went
	Removed     int  `json:"removed"`     // messages whose row went
	Keys        int  `json:"keys"`        // first answers to an Idempotency-Key
	Invitations int  `json:"invitations"` // that were over
	DryRun      bool `json:"dryRun"`
}

func (h *house) retention() outbox.Retention {
	return outbox.Retention{Sent: h.RetentionSent, Dead: h.RetentionDead, Keys: h.RetentionKeys}
}

// purge erases what has been kept for long enough, and gives its space back. It shares the database
// with orders and can be cut off at any time: the next one goes on where it was.
func (h *house) purge(ctx context.Context, now time.Time) (purged, error) {
	var r purged
	messages, err := h.box.Purge(ctx, h.db, now, h.retention(), false)
	r.Erased, r.Removed = messages.Blanked, messages.Removed
	if err != nil {
		return r, err
	}
	r.Keys, err = h.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return idempotency.Purge(tx, now.Add(-h.RetentionKeys), limit)
	})
	if err != nil {
		return r, err
	}
	r.Invitations, err = h.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return h.book.PurgeInvitations(tx, now.Add(-invitesKept), limit)
	})
	if err != nil {
		return r, err
	}
	return r, h.db.GiveBack(ctx)
}

// countPurge says what a purge would do.
func (h *house) countPurge(ctx context.Context, now time.Time) (purged, error) {
	r := purged{DryRun: true}
	messages, err := h.box.Purge(ctx, h.db, now, h.retention(), true)
	if err != nil {
		return r, err
	}
	r.Erased, r.Removed = messages.Blanked, messages.Removed
	err = h.db.Read(ctx, func(tx database.Tx) (err error) {
		if r.Keys, err = idempotency.CountOld(tx, now.Add(-h.RetentionKeys)); err != nil {
			return err
		}
		r.Invitations, err = h.book.CountOldInvitations(tx, now.Add(-invitesKept))
		return err
	})
	return r, err
}

// keep purges on schedule, and keeps the write-ahead log short, until ctx ends. Only the holder of
// the sender's lock does.
func (h *house) keep(ctx context.Context) error {
	schedule, err := h.PurgeTimes()
	if err != nil {
		return err
	}
	due := schedule.Next(time.Now())
	for {
		timer := time.NewTimer(min(keepEvery, time.Until(due)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		if now := time.Now(); !now.Before(due) {
			h.purgeNow(ctx, now)
			due = schedule.Next(time.Now())
		}
		if h.db.LogTooLarge() {
			if err := h.db.TrimLog(ctx); err != nil {
				h.log.Warn("cannot shorten the write-ahead log", "err", err)
			}
		}
	}
}

// keepEvery is how often the size of the write-ahead log is looked at, and how late a purge can
// begin after the clock was set.
const keepEvery = time.Minute

// purgeNow purges unless the clock cannot be trusted: what is erased because of a wrong date does
// not come back.
func (h *house) purgeNow(ctx context.Context, now time.Time) {
	if doubt := h.sender.Load().ClockDoubt(); doubt != "" {
		h.log.Warn("not purging: " + doubt)
		return
	}
	began := time.Now()
	r, err := h.purge(ctx, now)
	if err != nil && ctx.Err() == nil {
		h.log.Error("the purge did not end", "err", err)
		return
	}
	h.log.Info("purged", "erased", r.Erased, "removed", r.Removed, "keys", r.Keys, "took", time.Since(began).Round(time.Millisecond))
}

// say tells what was purged in words.
func (r purged) say() string {
	verb := "Erased"
	if r.DryRun {
		verb = "Would erase"
	}
	return fmt.Sprintf("%s the content of %d messages; removed: %d messages, %d idempotency keys, %d invitations.",
		verb, r.Erased, r.Removed, r.Keys, r.Invitations)
}
