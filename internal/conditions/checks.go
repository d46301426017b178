package conditions

import (
	"fmt"
	"time"

	"notifier/internal/outbox"
)

func (c *Checks) disk() Condition {
	if !c.DB.Full() {
		return Condition{}
	}
	const words = "the disk is full: no orders are taken, and nothing is sent; make room, then `notifier purge`"
	return Condition{Code: DiskFull, Detail: words, Fix: "notifier purge", Alarm: words}
}

func copied(f facts) Condition {
	if !f.copied {
		return Condition{}
	}
	return Condition{
		Code: Copy, Fix: "notifier resume",
		Detail: fmt.Sprintf("this database is a copy; %d messages are due in it. If the original is out of use, run `notifier resume`; "+
			"else they would be sent twice", f.waiting),
	}
}

// sender is what holds up the whole bot.
func (c *Checks) sender(f facts, now time.Time) Condition {
	if f.status.State == outbox.SenderRunning {
		return Condition{}
	}
	found := Condition{Code: senderIs + f.status.State, Detail: "nothing is being sent: " + f.status.Reason, Fix: "notifier sender"}
	switch {
	case f.status.State == outbox.SenderPaused:
		found.Fix = "notifier resume"
	case f.status.State == outbox.SenderStopped:
		found.Alarm = "nothing is sent: the token was refused, or is another bot's; `notifier doctor` says which"
	case f.guarded:
		found.Code, found.Fix = MassRefusal, "notifier sender release"
		found.Alarm = "five chats in a row were refused that had accepted messages before: nobody is given up, and one message a minute tries; `notifier sender` says more"
	case c.OutageSince != nil:
		since := c.OutageSince()
		if !since.IsZero() && now.Sub(since) >= outageAfter {
			found.Code = Outage
			found.Alarm = fmt.Sprintf("Telegram has not been reachable since %s; messages are kept", since.UTC().Format(time.RFC3339))
		}
	}
	return found
}

// late wakes nobody during a pause: whoever made it knows.
func late(f facts, now time.Time) Condition {
	if f.due.IsZero() || now.Sub(f.due) < lateAfter {
		return Condition{}
	}
	found := Condition{
		Code: OldestDueLate, Fix: "notifier sender",
		Detail: fmt.Sprintf("the oldest message that could go has been due for %v", now.Sub(f.due).Round(time.Second)),
	}
	if f.status.State != outbox.SenderPaused {
		found.Alarm = "the oldest message that could go has been due for more than 5 minutes; `notifier sender` says what holds it up"
	}
	return found
}

func (c *Checks) clock() Condition {
	if c.ClockDoubt == nil || c.ClockDoubt() == "" {
		return Condition{}
	}
	return Condition{Code: Clock, Detail: c.ClockDoubt(), Fix: "timedatectl set-ntp true"}
}

func staff(r outbox.Recipient) Condition {
	found := Condition{Fix: "notifier chat revive " + r.Address}
	switch r.State {
	case outbox.RecipientDead:
		found.Code = StaffDead
		found.Detail = fmt.Sprintf("the staff's chat is dead (%s): unblock the bot there, or take it in again, then run `%s`", r.Reason, found.Fix)
		found.Alarm = "the staff's chat is dead; `notifier doctor` says what helps"
		return found
	case outbox.RecipientDoubtful:
		found.Code = StaffDoubtful
		found.Detail = fmt.Sprintf("the staff's chat looks unreachable (%s): see that the bot is in it and may write; it is tried again by itself", r.Reason)
		return found
	}
	return Condition{}
}

func (c *Checks) receiving(now time.Time) Condition {
	if c.NotReceiving == nil {
		return Condition{}
	}
	why := c.NotReceiving(now)
	if why == "" {
		return Condition{}
	}
	return Condition{Code: NotReceiving, Detail: "what customers do in Telegram is not received: " + why, Fix: "notifier doctor"}
}
