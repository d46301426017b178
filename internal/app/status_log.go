package app

import (
	"context"
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
	var status outbox.SenderStatus
	err := a.db.Read(ctx, func(tx database.Tx) (err error) {
		status, err = a.senderStatus(tx, time.Now())
		return err
	})
	if err != nil {
		return "", err
	}
	line := status.State
	if status.Reason != "" {
		line += " (" + status.Reason + ")"
	}
	other, err := a.db.SenderHolder()
	if err != nil || other == nil {
		return line, err
	}
	return fmt.Sprintf("standby: %s sends (%s); this process takes over when it ends", other, line), nil
}
