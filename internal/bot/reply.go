package bot

import (
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/updates"
)

// seldom is how often somebody who writes just so, or a group, is told what the bot is for.
const seldom = time.Hour

// reply is what one event is answered with, in its transaction.
type reply struct {
	*Handler
	tx    database.Tx
	now   time.Time
	chat  string
	event updates.Event
	// customers are those whose chat this is; a family, or a shop that knows one person twice, has
	// more than one.
	customers []string
	stopped   bool
}

func (h *Handler) replyTo(tx database.Tx, now time.Time, chat string, e updates.Event) (*reply, error) {
	r := &reply{Handler: h, tx: tx, now: now, chat: chat, event: e}
	return r, r.look()
}

// look reads who has this chat now, and whether they get messages.
func (r *reply) look() error {
	aliases, err := r.outbox.Aliases(r.tx, r.chat)
	if err != nil {
		return err
	}
	r.customers = nil
	for _, alias := range aliases {
		r.customers = append(r.customers, orders.CustomerOf(alias))
	}
	recipient, err := r.outbox.Recipient(r.tx, r.chat)
	r.stopped = recipient.State == outbox.RecipientDead
	return err
}

// inGroup answers what is meant for a private chat, and nothing else: groups talk among themselves.
func (r *reply) inGroup() error {
	switch r.event.Kind {
	case updates.Start, updates.Help, updates.Orders, updates.Stop:
		return r.enqueue("group", orders.TypePrivateOnly, orders.ReplyPayload{}, seldom)
	}
	return nil
}

func (r *reply) inPrivate() error {
	switch r.event.Kind {
	case updates.Start:
		return r.start()
	case updates.Orders:
		return r.list("orders", orders.TypeOpenOrders)
	case updates.Help:
		return r.enqueue("help", orders.TypeHelp, orders.ReplyPayload{}, 0)
	case updates.Stop:
		return r.stop()
	case updates.Words:
		return r.enqueue("hint", orders.TypeHint, orders.ReplyPayload{}, seldom)
	}
	// A button gets its own answer; whoever takes back a block has asked for nothing.
	return nil
}

// start greets the customer whose chat this is, or becomes with the token.
func (r *reply) start() error {
	if r.event.Token == "" {
		return r.list("start", orders.TypeGreeting)
	}
	customer, redeemed, err := r.orders.Redeem(r.tx, r.now, r.event.Token, r.event.Chat)
	if err != nil {
		return err
	}
	switch redeemed {
	case orders.RedeemedTooMany:
		return r.enqueue("throttled", orders.TypeLinkThrottled, orders.ReplyPayload{}, seldom/6)
	case orders.RedeemedNot:
		return r.enqueue("start", orders.TypeLinkRefused, orders.ReplyPayload{}, 0)
	}
	r.customers = []string{customer} // the others who have this chat are not spoken to here
	return r.list("start", orders.TypeGreeting)
}

// list answers with the open orders of the customers whose chat this is.
func (r *reply) list(kind, typ string) error {
	if len(r.customers) == 0 {
		return r.enqueue(kind, orders.TypeWelcome, orders.ReplyPayload{}, 0)
	}
	newest, total, err := r.orders.Open(r.tx, r.customers, orders.MaxListed)
	if err != nil {
		return err
	}
	p := orders.ReplyPayload{OpenOrders: int64(total)}
	for _, o := range newest {
		p.Orders = append(p.Orders, orders.OpenOrder{
			OrderID: o.ID, Number: o.Number, Status: string(o.Status), Currency: o.Currency, TotalCents: o.TotalCents,
		})
	}
	return r.enqueue(kind, typ, p, 0)
}

// stop ends messages to this chat. The staff's goes on: the shop would miss its orders.
func (r *reply) stop() error {
	if r.staffChat != "" {
		staff, err := r.outbox.Resolve(r.tx, r.staffChat)
		if err != nil {
			return err
		}
		here, err := r.outbox.Resolve(r.tx, r.chat)
		if err != nil {
			return err
		}
		if staff == here {
			return r.enqueue("stop", orders.TypeStaffStays, orders.ReplyPayload{}, 0)
		}
	}
	if err := r.outbox.Stop(r.tx, r.now, r.chat); err != nil {
		return err
	}
	r.stopped = true
	return r.enqueue("stop", orders.TypeStopped, orders.ReplyPayload{}, 0)
}

// enqueue stores a reply in the language of the customer, else in that of whoever wrote.
func (r *reply) enqueue(kind, typ string, p orders.ReplyPayload, every time.Duration) error {
	p.Locale, p.Stopped = r.event.Language, r.stopped
	if len(r.customers) > 0 && r.event.Private {
		c, err := r.orders.Customer(r.tx, r.customers[0])
		if err != nil {
			return err
		}
		if c.Locale != "" {
			p.Locale = c.Locale
		}
		if len(r.customers) == 1 {
			p.CustomerName = c.Name
		}
	}
	return r.outbox.EnqueueReply(r.tx, r.now, outbox.NewReply{Address: r.chat, Kind: kind, Type: typ, Payload: p, Every: every})
}
