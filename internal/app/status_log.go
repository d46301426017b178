package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// statusLog logs what holds up the sender, and when that is over: once each, not for every pass. It
// is the schedule of the passes too, since that is asked after each of them, and only passes that
// did not end well are told of.
type statusLog struct {
	outbox.Schedule
	log    *slog.Logger
	failed bool   // the pass that has just ended
	reason string // as last logged; empty when nothing holds the sender up
}

// held hears of a pass that did not end well.
func (l *statusLog) held(_ outbox.Report, err error) {
	l.failed = true
	if err.Error() != l.reason {
		l.reason = err.Error()
		l.log.Warn("not sending", "reason", inTelegramsName(err.Error()))
	}
}

// Next implements outbox.Schedule.
func (l *statusLog) Next(now time.Time) time.Time {
	if !l.failed && l.reason != "" {
		l.log.Info("sending again", "heldUpBy", inTelegramsName(l.reason))
		l.reason = ""
	}
	l.failed = false
	return l.Schedule.Next(now)
}

// senderLine says in the banner how the sender stands, and who sends when it is not this process.
func (a *App) senderLine(ctx context.Context) (string, error) {
	var line string
	err := a.db.Read(ctx, func(tx database.Tx) (err error) {
		line, err = a.senderWords(tx, time.Now())
		return err
	})
	if err != nil {
		return "", err
	}
	other, err := a.db.SenderHolder()
	if err != nil || other == nil || a.sends() {
		return line, err
	}
	return fmt.Sprintf("standby: %s sends (%s); this process takes over when it ends", other, line), nil
}

// senderWords say how the sender stands. What is stored of it may be another bot's.
func (a *App) senderWords(tx database.Tx, now time.Time) (string, error) {
	if c := a.client.Load(); c != nil {
		switch err := a.box.CheckIdentity(tx, c.ID()); {
		case errors.Is(err, outbox.ErrIdentity):
			return fmt.Sprintf("%s (%v)", outbox.SenderStopped, err), nil
		case err != nil:
			return "", err
		}
	}
	status, err := a.senderStatus(tx, now)
	if err != nil {
		return "", err
	}
	line := status.State
	if status.Reason != "" {
		line += " (" + status.Reason + ")"
	}
	if status.State != outbox.SenderPaused {
		return line, nil
	}
	counts, err := a.box.Counts(tx)
	n := counts.Messages[outbox.StateReason{State: outbox.StatePending}] + counts.Messages[outbox.StateReason{State: outbox.StateSending}]
	if n > 0 {
		line += fmt.Sprintf("; messages that wait: %d, and `notifier resume` sends them", n)
	}
	return line, err
}

// tellOfPolling warns where the kernel does not tell of other programs' commits.
func (a *App) tellOfPolling() {
	if err := a.db.WatchTrouble(); err != nil {
		a.log.Warn("the kernel does not tell of other programs' messages; the database is looked at every 100 ms instead. "+
			"`sysctl fs.inotify.max_user_instances` shows the limit", "err", err)
	}
}
