package bot

import (
	"fmt"
	"strconv"
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/updates"
)

// Options are what a Handler needs.
type Options struct {
	Outbox *outbox.Outbox
	Orders *orders.Book
	// StaffChat is the chat of the shop's own people, which no /stop stops; 0: there is none.
	StaffChat int64
}

// Handler does what follows from an event. It keeps no state.
type Handler struct {
	outbox    *outbox.Outbox
	orders    *orders.Book
	staffChat string
}

var _ updates.Handler = (*Handler)(nil)

// New returns a handler.
func New(o Options) *Handler {
	h := &Handler{outbox: o.Outbox, orders: o.Orders}
	if o.StaffChat != 0 {
		h.staffChat = strconv.FormatInt(o.StaffChat, 10)
	}
	return h
}

// Handle implements updates.Handler.
func (h *Handler) Handle(tx database.Tx, now time.Time, e updates.Event) error {
	chat := strconv.FormatInt(e.Chat, 10)
	switch e.Kind {
	case updates.Blocked:
		return h.outbox.Leave(tx, now, chat, e.At, outbox.RecipientBlocked, "the customer blocked the bot")
	case updates.Left:
		return h.outbox.Leave(tx, now, chat, e.At, outbox.RecipientKicked, "the bot was removed from the group")
	case updates.Moved:
		return h.outbox.Move(tx, now, chat, strconv.FormatInt(e.MovedTo, 10))
	}
	// Whatever else it is, somebody is there.
	err := h.outbox.SignOfLife(tx, now, chat, outbox.Sign{
		At:      e.At,
		Resumes: e.Kind == updates.Start,
		// Somebody who speaks in a group says nothing about whether we may.
		Writable: e.Private || e.Kind == updates.Joined,
	})
	if err != nil {
		return fmt.Errorf("handle %s: %w", e.Kind, err)
	}
	r, err := h.replyTo(tx, now, chat, e)
	if err != nil {
		return fmt.Errorf("handle %s: %w", e.Kind, err)
	}
	if !e.Private {
		return r.inGroup()
	}
	return r.inPrivate()
}
