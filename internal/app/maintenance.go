package app

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/idempotency"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// Purged is what a purge did, or with a dry run would do.
type Purged struct {
	Erased      int  `json:"erased"`      // messages whose content went
	Removed     int  `json:"removed"`     // messages whose row went
	Keys        int  `json:"keys"`        // first answers to an Idempotency-Key
	Invitations int  `json:"invitations"` // that were over
	DryRun      bool `json:"dryRun"`
}

func (a *App) retention() outbox.Retention {
	return outbox.Retention{Sent: a.settings.RetentionSent, Dead: a.settings.RetentionDead, Keys: a.settings.RetentionKeys}
}

// Purge erases what has been kept for long enough, and gives its space back. It shares the database
// with orders and can be cut off at any time: the next one goes on where it was.
func (a *App) Purge(ctx context.Context, now time.Time) (Purged, error) {
	var r Purged
	messages, err := a.box.Purge(ctx, a.db, now, a.retention(), false)
	r.Erased, r.Removed = messages.Blanked, messages.Removed
	if err != nil {
		return r, err
	}
	r.Keys, err = a.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return idempotency.Purge(tx, now.Add(-a.settings.RetentionKeys), limit)
	})
	if err != nil {
		return r, err
	}
	r.Invitations, err = a.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return a.book.PurgeInvitations(tx, now, limit)
	})
	if err != nil {
		return r, err
	}
	return r, a.db.GiveBack(ctx)
}

// CountPurge says what a purge would do.
func (a *App) CountPurge(ctx context.Context, now time.Time) (Purged, error) {
	r := Purged{DryRun: true}
	messages, err := a.box.Purge(ctx, a.db, now, a.retention(), true)
	if err != nil {
		return r, err
	}
	r.Erased, r.Removed = messages.Blanked, messages.Removed
	err = a.db.Read(ctx, func(tx database.Tx) (err error) {
		if r.Keys, err = idempotency.CountOld(tx, now.Add(-a.settings.RetentionKeys)); err != nil {
			return err
		}
		r.Invitations, err = a.book.CountOldInvitations(tx, now)
		return err
	})
	return r, err
}

// maintain purges on schedule, and keeps the write-ahead log short, until ctx ends. Only the holder of
// the sender's lock does.
func (a *App) maintain(ctx context.Context) error {
	schedule, err := a.settings.PurgeTimes()
	if err != nil {
		return err
	}
	due := schedule.Next(time.Now())
	for {
		timer := time.NewTimer(min(maintainEvery, time.Until(due)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		if now := time.Now(); !now.Before(due) {
			a.purgeNow(ctx, now)
			due = schedule.Next(time.Now())
		}
		if a.db.LogTooLarge() {
			if err := a.db.TrimLog(ctx); err != nil {
				a.log.Warn("cannot shorten the write-ahead log", "err", err)
			}
		}
	}
}

// maintainEvery is how often the size of the write-ahead log is looked at, and how late a purge can
// begin after the clock was set.
const maintainEvery = time.Minute

// purgeNow purges unless the clock cannot be trusted: what is erased because of a wrong date does
// not come back.
func (a *App) purgeNow(ctx context.Context, now time.Time) {
	if doubt := a.sender.Load().ClockDoubt(); doubt != "" {
		a.log.Warn("not purging: " + doubt)
		return
	}
	began := time.Now()
	r, err := a.Purge(ctx, now)
	if err != nil && ctx.Err() == nil {
		a.log.Error("the purge did not end", "err", err)
		return
	}
	a.log.Info("purged", "erased", r.Erased, "removed", r.Removed, "keys", r.Keys, "took", time.Since(began).Round(time.Millisecond))
}

// String says it in words.
func (r Purged) String() string {
	verb := "Erased"
	if r.DryRun {
		verb = "Would erase"
	}
	return fmt.Sprintf("%s the content of %d messages; removed: %d messages, %d idempotency keys, %d invitations.",
		verb, r.Erased, r.Removed, r.Keys, r.Invitations)
}

// Backup writes a consistent copy of the database into a new file while others go on writing. A
// service that is started on it begins paused.
func (a *App) Backup(ctx context.Context, file string) error {
	return a.db.Backup(ctx, file, func(tx database.Tx) error { return a.box.MarkCopy(tx, time.Now()) })
}

// Forget erases who a customer is and keeps the numbers: also what requests about them were
// answered. It goes in steps, and is over when nothing is left.
func (a *App) Forget(ctx context.Context, customerID string) (f orders.Forgotten, err error) {
	_, err = a.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return a.book.ForgetOrders(tx, customerID, limit)
	})
	if err != nil {
		return f, err
	}
	_, err = a.db.InSteps(ctx, func(tx database.Tx, limit int) (int, error) {
		return idempotency.ForgetCustomer(tx, customerID, limit)
	})
	if err != nil {
		return f, err
	}
	err = a.db.Write(ctx, func(tx database.Tx) error {
		f, err = a.book.Forget(tx, time.Now(), customerID)
		return err
	})
	if err != nil {
		return f, err
	}
	return f, a.box.Settle(ctx, a.db)
}
