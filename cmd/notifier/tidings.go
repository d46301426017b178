package main

import (
	"fmt"
	"log/slog"
	"time"

	"notifier/internal/outbox"
)

// tidings log what holds up the sender, and when that is over: once each, not for every pass. They
// are the schedule of the passes too, since that is asked after each of them, and only passes that
// did not end well are told of.
type tidings struct {
	outbox.Schedule
	log    *slog.Logger
	failed bool   // the pass that has just ended
	reason string // as last logged; empty when nothing holds the sender up
}

// held hears of a pass that did not end well.
func (t *tidings) held(_ outbox.Report, err error) {
	t.failed = true
	if err.Error() != t.reason {
		t.reason = err.Error()
		t.log.Warn("not sending", "reason", inTelegramsName(err.Error()))
	}
}

// Next implements outbox.Schedule.
func (t *tidings) Next(now time.Time) time.Time {
	if !t.failed && t.reason != "" {
		t.log.Info("sending again", "heldUpBy", inTelegramsName(t.reason))
		t.reason = ""
	}
	t.failed = false
	return t.Schedule.Next(now)
}

// senderLine says in the banner how the sender stands, and who sends when it is not this process.
func (h *house) senderLine(f facts) (string, error) {
	line := f.status.State
	if f.status.Reason != "" {
		line += " (" + f.status.Reason + ")"
	}
	if f.copied {
		line = outbox.SenderPaused + ": " + copyWords(f.waiting)
	}
	other, err := h.db.SenderHolder()
	if err != nil || other == nil {
		return line, err
	}
	return fmt.Sprintf("standby: %s sends (%s); this process takes over when it ends", other, line), nil
}
