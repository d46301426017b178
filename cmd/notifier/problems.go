package main

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/alerts"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/outbox"
	"notifier/internal/telegram/updates"
)

// lateAfter is how old the oldest due message may become before that is a problem.
const lateAfter = 5 * time.Minute

// facts are what every process can read about how things stand.
type facts struct {
	status  outbox.SenderStatus
	due     time.Time // since when the oldest message that could go has been due
	staff   outbox.Recipient
	copied  bool
	waiting int  // messages that a copy would send
	guarded bool // the guard against mass death holds
}

func (h *house) find(ctx context.Context, now time.Time) (facts, error) {
	var f facts
	machine, inode, err := h.db.Place()
	if err != nil {
		return f, err
	}
	err = h.db.Read(ctx, func(tx database.Tx) (err error) {
		if f.status, err = h.box.Status(tx, now); err != nil {
			return err
		}
		if h.StaffChatID != 0 {
			if f.staff, err = h.box.Recipient(tx, fmt.Sprint(h.StaffChatID)); err != nil {
				return err
			}
		}
		if f.copied, f.waiting, err = h.box.IsCopy(tx, machine, inode); err != nil {
			return err
		}
		if f.guarded, err = h.box.Guarded(tx); err != nil {
			return err
		}
		f.due, err = h.box.OldestDue(tx, now)
		return err
	})
	return f, err
}

// problems says what is wrong besides storage, from what every process can read.
func (h *house) problems(ctx context.Context) []httpapi.Problem {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	now := time.Now()
	f, err := h.find(ctx, now)
	if err != nil {
		return []httpapi.Problem{{Code: "database_unreadable", Detail: err.Error()}}
	}
	var found []httpapi.Problem
	add := func(code, detail string) { found = append(found, httpapi.Problem{Code: code, Detail: detail}) }
	if f.status.State != outbox.SenderRunning {
		add("sender_"+f.status.State, "nothing is being sent: "+f.status.Reason)
	}
	if f.copied {
		add("database_copy", copyWords(f.waiting))
	}
	if late := now.Sub(f.due); !f.due.IsZero() && late > lateAfter {
		add("oldest_due_late", fmt.Sprintf("the oldest message that could go has been due for %v", late.Round(time.Second)))
	}
	if d := h.sender.Load(); d != nil && d.ClockDoubt() != "" && h.sends.Load() {
		add("clock", d.ClockDoubt())
	}
	if code, detail := staffTrouble(f.staff); code != "" {
		add(code, detail)
	}
	if code, detail := h.deafness(now); code != "" {
		add(code, detail)
	}
	return found
}

// copyWords say what a copy means and what it would do.
func copyWords(waiting int) string {
	return fmt.Sprintf("this database is a copy; %d messages are due in it. If the original is out of use, run `notifier resume`; "+
		"else they would be sent twice", waiting)
}

// staffTrouble says what is wrong with the staff's chat.
func staffTrouble(staff outbox.Recipient) (code, detail string) {
	switch staff.State {
	case outbox.RecipientDead:
		return "staff_chat_dead", fmt.Sprintf("the staff's chat is dead (%s): unblock the bot there, or take it in again, then run `notifier chat revive %s`", staff.Reason, staff.Address)
	case outbox.RecipientDoubtful:
		return "staff_chat_doubtful", fmt.Sprintf("the staff's chat looks unreachable (%s): see that the bot is in it and may write; it is tried again by itself", staff.Reason)
	}
	return "", ""
}

// deafness says why nothing is heard of what customers do. Only the process that listens knows.
func (h *house) deafness(now time.Time) (code, detail string) {
	if h.ears == nil || !h.sends.Load() {
		return "", ""
	}
	var s updates.Status
	if h.ears.poller != nil {
		s = h.ears.poller.Status(now)
	} else {
		s = h.ears.webhook.Status(now)
	}
	if s.Code == updates.Receiving {
		return "", ""
	}
	return "not_receiving", "what customers do in Telegram is not received: " + s.Detail
}

// outageAfter is how long an outage may last before it is an alarm.
const outageAfter = 5 * time.Minute

// monitor calls the addresses outside; see package alerts. Only the holder of the sender's lock does.
func (h *house) monitor() *alerts.Monitor {
	return alerts.New(alerts.Options{
		AlertURL: h.AlertURL.Reveal(), HeartbeatURL: h.HeartbeatURL.Reveal(), Find: h.alarms, Log: h.log,
	})
}

// alarms are those problems for which a person should be woken. Their words name nobody.
func (h *house) alarms(ctx context.Context) ([]alerts.Alarm, error) {
	now := time.Now()
	f, err := h.find(ctx, now)
	if err != nil {
		return nil, err
	}
	var found []alerts.Alarm
	add := func(code, detail string) { found = append(found, alerts.Alarm{Code: code, Detail: detail}) }
	if f.status.State == outbox.SenderStopped {
		add("sender_stopped", "nothing is sent: the token was refused, or is another bot's; `notifier doctor` says which")
	}
	if since := h.sender.Load().Outage(); !since.IsZero() && now.Sub(since) >= outageAfter {
		add("outage", fmt.Sprintf("Telegram has not been reachable since %s; messages are kept", since.UTC().Format(time.RFC3339)))
	}
	if f.guarded {
		add("mass_refusal", "five chats in a row were refused that had accepted messages before: nobody is given up, and one message a minute tries; `notifier sender` says more")
	}
	if late := now.Sub(f.due); f.status.State != outbox.SenderPaused && !f.due.IsZero() && late >= lateAfter {
		add("oldest_due_late", "the oldest message that could go has been due for more than 5 minutes; `notifier sender` says what holds it up")
	}
	if h.db.Full() {
		add("disk_full", "the disk is full: no orders are taken, and nothing is sent; make room, then `notifier purge`")
	}
	if f.staff.State == outbox.RecipientDead {
		add("staff_chat_dead", "the staff's chat is dead; `notifier doctor` says what helps")
	}
	return found, nil
}
