package conversation

import (
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/updates"
)

// seldom is how often somebody who writes just so, or a group, is told what the bot is for.
const seldom = time.Hour

// shown is how many open orders are listed.
const shown = 10

// talk is one act in its transaction, and who acts.
type talk struct {
	*Desk
	tx   database.Tx
	now  time.Time
	chat string
	act  updates.Act
	// customers are those whose chat this is; a family, or a shop that knows one person twice, has
	// more than one.
	customers []string
	stopped   bool
}

func (d *Desk) talk(tx database.Tx, now time.Time, chat string, a updates.Act) (*talk, error) {
	t := &talk{Desk: d, tx: tx, now: now, chat: chat, act: a}
	return t, t.look()
}

// look reads who has this chat now, and whether they get messages.
func (t *talk) look() error {
	aliases, err := t.outbox.Aliases(t.tx, t.chat)
	if err != nil {
		return err
	}
	t.customers = nil
	for _, alias := range aliases {
		t.customers = append(t.customers, orders.CustomerOf(alias))
	}
	r, err := t.outbox.Recipient(t.tx, t.chat)
	t.stopped = r.State == outbox.RecipientDead
	return err
}

// inGroup answers what is meant for a private chat, and nothing else: groups talk among themselves.
func (t *talk) inGroup() error {
	switch t.act.Kind {
	case updates.Start, updates.Help, updates.Orders, updates.Stop:
		return t.answer("group", orders.TypePrivateOnly, orders.AnswerPayload{}, seldom)
	}
	return nil
}

func (t *talk) inPrivate() error {
	switch t.act.Kind {
	case updates.Start:
		return t.start()
	case updates.Orders:
		return t.list("orders", orders.TypeOpenOrders)
	case updates.Help:
		return t.answer("help", orders.TypeHelp, orders.AnswerPayload{}, 0)
	case updates.Stop:
		return t.stop()
	case updates.Words:
		return t.answer("hint", orders.TypeHint, orders.AnswerPayload{}, seldom)
	}
	// A button gets its own answer; whoever takes back a block has asked for nothing.
	return nil
}

// start greets the customer whose chat this is, or becomes with the token.
func (t *talk) start() error {
	if t.act.Token == "" {
		return t.list("start", orders.TypeGreeting)
	}
	customer, redeemed, err := t.orders.Redeem(t.tx, t.now, t.act.Token, t.act.Chat)
	if err != nil {
		return err
	}
	switch redeemed {
	case orders.RedeemedTooMany:
		return t.answer("throttled", orders.TypeLinkThrottled, orders.AnswerPayload{}, seldom/6)
	case orders.RedeemedNot:
		return t.answer("start", orders.TypeLinkRefused, orders.AnswerPayload{}, 0)
	}
	t.customers = []string{customer} // the others who have this chat are not spoken to here
	return t.list("start", orders.TypeGreeting)
}

// list answers with the open orders of the customers whose chat this is.
func (t *talk) list(kind, typ string) error {
	if len(t.customers) == 0 {
		return t.answer(kind, orders.TypeWelcome, orders.AnswerPayload{}, 0)
	}
	newest, total, err := t.orders.Open(t.tx, t.customers, shown)
	if err != nil {
		return err
	}
	p := orders.AnswerPayload{OpenOrders: int64(total)}
	for _, o := range newest {
		p.Orders = append(p.Orders, orders.OpenOrder{
			OrderID: o.ID, Number: o.Number, Status: string(o.Status), Currency: o.Currency, TotalCents: o.TotalCents,
		})
	}
	return t.answer(kind, typ, p, 0)
}

// stop ends messages to this chat. The staff's goes on: the shop would miss its orders.
func (t *talk) stop() error {
	if t.staffChat != "" {
		staff, err := t.outbox.Resolve(t.tx, t.staffChat)
		if err != nil {
			return err
		}
		here, err := t.outbox.Resolve(t.tx, t.chat)
		if err != nil {
			return err
		}
		if staff == here {
			return t.answer("stop", orders.TypeStaffStays, orders.AnswerPayload{}, 0)
		}
	}
	if err := t.outbox.Stop(t.tx, t.now, t.chat); err != nil {
		return err
	}
	t.stopped = true
	return t.answer("stop", orders.TypeStopped, orders.AnswerPayload{}, 0)
}

// answer stores an answer in the language of the customer, else in that of whoever acts.
func (t *talk) answer(kind, typ string, p orders.AnswerPayload, every time.Duration) error {
	p.Locale, p.Stopped = t.act.Language, t.stopped
	if len(t.customers) > 0 && t.act.Private {
		c, err := t.orders.Customer(t.tx, t.customers[0])
		if err != nil {
			return err
		}
		if c.Locale != "" {
			p.Locale = c.Locale
		}
		if len(t.customers) == 1 {
			p.CustomerName = c.Name
		}
	}
	return t.outbox.Answer(t.tx, t.now, outbox.NewAnswer{Address: t.chat, Kind: kind, Type: typ, Payload: p, Every: every})
}
