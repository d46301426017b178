package conversation

import (
	"fmt"
	"strconv"
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/updates"
)

// Options are what a Desk needs.
type Options struct {
	Outbox *outbox.Outbox
	Orders *orders.Book
	// StaffChat is the chat of the shop's own people, which no /stop stops; 0: there is none.
	StaffChat int64
}

// Desk is where customers' acts arrive. It keeps no state.
type Desk struct {
	outbox    *outbox.Outbox
	orders    *orders.Book
	staffChat string
}

var _ updates.Listener = (*Desk)(nil)

// New returns a desk.
func New(o Options) *Desk {
	d := &Desk{outbox: o.Outbox, orders: o.Orders}
	if o.StaffChat != 0 {
		d.staffChat = strconv.FormatInt(o.StaffChat, 10)
	}
	return d
}

// Hear implements updates.Listener.
func (d *Desk) Hear(tx database.Tx, now time.Time, a updates.Act) error {
	chat := strconv.FormatInt(a.Chat, 10)
	switch a.Kind {
	case updates.Blocked:
		return d.outbox.Leave(tx, now, chat, a.At, outbox.RecipientBlocked, "the customer blocked the bot")
	case updates.Left:
		return d.outbox.Leave(tx, now, chat, a.At, outbox.RecipientKicked, "the bot was removed from the group")
	case updates.Moved:
		return d.outbox.Move(tx, now, chat, strconv.FormatInt(a.MovedTo, 10))
	}
	// Whatever else it is, somebody is there.
	err := d.outbox.SignOfLife(tx, now, chat, outbox.Sign{
		At:      a.At,
		Resumes: a.Kind == updates.Start,
		// Somebody who speaks in a group says nothing about whether we may.
		Writable: a.Private || a.Kind == updates.Joined,
	})
	if err != nil {
		return fmt.Errorf("hear %s: %w", a.Kind, err)
	}
	t, err := d.talk(tx, now, chat, a)
	if err != nil {
		return fmt.Errorf("hear %s: %w", a.Kind, err)
	}
	if !a.Private {
		return t.inGroup()
	}
	return t.inPrivate()
}
