package conditions

import (
	"context"
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// Condition is something that is wrong.
type Condition struct {
	Code   string // for programs
	Detail string // for people, with what they can do
	// Fix is a command for a shell that mends it, or what a person begins with; empty: none helps.
	Fix string
	// Alarm is said to the alert address, and names nobody; empty: no person need be woken.
	Alarm string
}

// The codes of conditions. That of what holds up the sender is made of its state, unless it is an
// outage that has lasted or the guard against mass death: then it is Outage or MassRefusal.
const (
	Unreadable    = "database_unreadable"
	DiskFull      = "disk_full"
	Copy          = "database_copy"
	SenderPaused  = senderIs + outbox.SenderPaused
	SenderWaiting = senderIs + outbox.SenderWaiting
	SenderStopped = senderIs + outbox.SenderStopped
	Outage        = "outage"
	MassRefusal   = "mass_refusal"
	OldestDueLate = "oldest_due_late"
	Clock         = "clock"
	PassFailed    = "pass_failed"
	StaffDead     = "staff_chat_dead"
	StaffDoubtful = "staff_chat_doubtful"
	NotReceiving  = "not_receiving"
	Unsendable    = "messages_unsendable"
	Unserved      = "channel_unserved"

	senderIs = "sender_"
)

const (
	// lateAfter is how old the oldest due message may become before that is told.
	lateAfter = 5 * time.Minute
	// outageAfter is how long an outage may last before somebody is woken.
	outageAfter = 5 * time.Minute
)

// Checks is what conditions are looked for in.
type Checks struct {
	DB          *database.DB
	Outbox      *outbox.Outbox
	StaffChatID int64 // 0: there is none

	// What only the process that sends and receives knows; nil where that is another one.
	Trouble      func() string          // why the last pass failed, or nothing
	ClockDoubt   func() string          // why the clock is not to be trusted, or nothing
	OutageSince  func() time.Time       // zero: there is none
	NotReceiving func(time.Time) string // why updates do not come in, or nothing
}

// All is what is wrong at present, what holds up most first.
func (c *Checks) All(ctx context.Context) []Condition {
	now := time.Now()
	f, err := c.find(ctx, now)
	if err != nil {
		return []Condition{{Code: Unreadable, Detail: err.Error(), Alarm: "the database cannot be read; `notifier doctor` looks for the cause"}}
	}
	var all []Condition
	for _, found := range []Condition{
		c.disk(), c.trouble(), copied(f), c.sender(f, now), late(f, now), c.clock(), staff(f.staff), c.receiving(now),
		unserved(f), unsendable(f),
	} {
		if found.Code != "" {
			all = append(all, found)
		}
	}
	return all
}

// trouble says that nothing is sent because of an error.
func (c *Checks) trouble() Condition {
	if c.Trouble == nil || c.Trouble() == "" {
		return Condition{}
	}
	return Condition{Code: PassFailed, Detail: "nothing is sent: " + c.Trouble(),
		Alarm: "nothing is sent because of an error; `notifier sender` says which"}
}

// Sender is how the sender truly stands: one whose database is a copy is paused, although nobody
// has paused it yet.
func Sender(tx database.Tx, db *database.DB, box *outbox.Outbox, now time.Time) (outbox.SenderStatus, error) {
	f := facts{}
	if err := f.readSender(tx, db, box, now); err != nil {
		return outbox.SenderStatus{}, err
	}
	if f.copied && f.status.State == outbox.SenderRunning {
		return outbox.SenderStatus{State: outbox.SenderPaused, Reason: copied(f).Detail}, nil
	}
	return f.status, nil
}

// facts are what every process can read about how things stand.
type facts struct {
	status  outbox.SenderStatus
	due     time.Time // since when the oldest message that could go has been due
	staff   outbox.Recipient
	copied  bool
	waiting int  // messages that a copy would send
	guarded bool // the guard against mass death holds

	unserved   map[string]int // messages for channels that nobody serves
	unsendable []int64        // messages that could not be sent as they were written, the newest last
}

func (c *Checks) find(ctx context.Context, now time.Time) (facts, error) {
	var f facts
	err := c.DB.Read(ctx, func(tx database.Tx) (err error) {
		if err := f.readSender(tx, c.DB, c.Outbox, now); err != nil {
			return err
		}
		if c.StaffChatID != 0 {
			if f.staff, err = c.Outbox.Recipient(tx, fmt.Sprint(c.StaffChatID)); err != nil {
				return err
			}
		}
		if f.guarded, err = c.Outbox.Guarded(tx); err != nil {
			return err
		}
		if f.due, err = c.Outbox.OldestDue(tx, now); err != nil {
			return err
		}
		return f.readMessages(tx, c.Outbox, now)
	})
	return f, err
}

// readSender reads what holds up the sender.
func (f *facts) readSender(tx database.Tx, db *database.DB, box *outbox.Outbox, now time.Time) (err error) {
	machine, inode, err := db.Place()
	if err != nil {
		return err
	}
	if f.status, err = box.Status(tx, now); err != nil {
		return err
	}
	f.copied, f.waiting, err = box.IsCopy(tx, machine, inode)
	return err
}
