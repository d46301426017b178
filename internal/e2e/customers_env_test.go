package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"notifier/internal/bot"
	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
	"notifier/internal/telegram/text"
	"notifier/internal/telegram/updates"
)

// staffChat is the shop's own people's.
const staffChat = 990

// customerParts are there when customers answer.
type customerParts struct {
	book   *orders.Book
	inbox  *updates.Inbox
	poller *updates.Poller
}

// withCustomers lets updates come in, and renders the texts that customers read.
func withCustomers(s *settings) {
	s.customers = true
	texts, err := text.New(text.Options{})
	if err != nil {
		panic(err) // the built-in templates are tested elsewhere
	}
	s.render = func(typ string, payload json.RawMessage) (telegram.Rendered, error) {
		made, err := texts.Render(typ, payload)
		return telegram.Rendered{HTML: made.HTML, Plain: made.Plain}, err
	}
}

func (c *env) wireCustomers() {
	c.book = orders.New(c.box, staffChat)
	handler := bot.New(bot.Options{Outbox: c.box, Orders: c.book, StaffChat: staffChat})
	c.inbox = updates.NewInbox(updates.InboxOptions{DB: c.db, Handler: handler, Client: c.client, Committed: func() { c.sender.Wake() }})
	c.poller = updates.NewPoller(updates.PollerOptions{Client: c.client, Inbox: c.inbox})
}

func (c *env) closeCustomers() {
	if c.inbox != nil {
		c.inbox.Close()
	}
}

// place stores an order and returns its id.
func (c *env) place(customer, number string) (id int64) {
	c.t.Helper()
	c.write(func(tx database.Tx) error {
		o, _, err := c.book.Place(tx, time.Now(), orders.NewOrder{
			Number: number, Customer: orders.Mention{ID: customer, Name: "Anna"}, Currency: "EUR", TotalCents: 2500,
		})
		id = o.ID
		return err
	})
	return id
}

func (c *env) change(id int64, status orders.Status) {
	c.t.Helper()
	c.write(func(tx database.Tx) error {
		_, _, _, err := c.book.ChangeStatus(tx, time.Now(), id, orders.Change{Status: status})
		return err
	})
}

func (c *env) invite(customer string) (token string) {
	c.t.Helper()
	c.write(func(tx database.Tx) error {
		i, err := c.book.Invite(tx, time.Now(), customer)
		token = i.Token
		return err
	})
	return token
}

func (c *env) speaks(locale, customer string) {
	c.t.Helper()
	c.write(func(tx database.Tx) error {
		return c.book.EnsureCustomer(tx, time.Now(), orders.Mention{ID: customer, Locale: locale})
	})
}

func (c *env) chatOf(customer string) (address string) {
	c.t.Helper()
	c.write(func(tx database.Tx) (err error) {
		address, err = c.box.Resolve(tx, orders.Recipient(customer))
		return err
	})
	return address
}

// lines are the first lines of what a chat shows, which name what it is.
func (c *env) lines(chat int64) (lines []string) {
	for _, shown := range c.texts(chat) {
		first, _, _ := strings.Cut(shown, "\n")
		lines = append(lines, first)
	}
	return lines
}

func (c *env) wantLines(chat int64, want ...string) {
	c.t.Helper()
	if got := c.lines(chat); strings.Join(got, "|") != strings.Join(want, "|") {
		c.t.Errorf("chat %d shows\n%q, want\n%q", chat, got, want)
	}
}

func (c *env) wantChat(chat int64, state outbox.RecipientState, reason string) {
	c.t.Helper()
	if r := c.chat(chat); r.State != state || r.Reason != reason {
		c.t.Errorf("chat %d is %s (%s), want %s (%s)", chat, r.State, r.Reason, state, reason)
	}
}

// must fails the test when what customers do is not possible.
func (c *env) must(errs ...error) {
	c.t.Helper()
	for _, err := range errs {
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// find reads a message that may not be there.
func (c *env) find(id int64) (m outbox.Message, err error) {
	err = c.db.Read(context.Background(), func(tx database.Tx) (err error) {
		m, err = c.box.Message(tx, id)
		return err
	})
	return m, err
}

// mustSend lets a message go.
func (c *env) mustSend(id int64) {
	c.t.Helper()
	c.run(time.Minute)
	c.wantSent(id)
}
