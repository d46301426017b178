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
func (s *env) place(customer, number string) (id int64) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		o, _, err := s.book.Place(tx, time.Now(), orders.NewOrder{
			Number: number, Customer: orders.Mention{ID: customer, Name: "Anna"}, Currency: "EUR", TotalCents: 2500,
		})
		id = o.ID
		return err
	})
	return id
}

func (s *env) change(id int64, status orders.Status) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		_, _, _, err := s.book.ChangeStatus(tx, time.Now(), id, orders.Change{Status: status})
		return err
	})
}

func (s *env) invite(customer string) (token string) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		i, err := s.book.Invite(tx, time.Now(), customer)
		token = i.Token
		return err
	})
	return token
}

func (s *env) speaks(locale, customer string) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		return s.book.EnsureCustomer(tx, time.Now(), orders.Mention{ID: customer, Locale: locale})
	})
}

func (s *env) chatOf(customer string) (address string) {
	s.t.Helper()
	s.write(func(tx database.Tx) (err error) {
		address, err = s.box.Resolve(tx, orders.Recipient(customer))
		return err
	})
	return address
}

// lines are the first lines of what a chat shows, which name what it is.
func (s *env) lines(chat int64) (lines []string) {
	for _, shown := range s.texts(chat) {
		first, _, _ := strings.Cut(shown, "\n")
		lines = append(lines, first)
	}
	return lines
}

func (s *env) wantLines(chat int64, want ...string) {
	s.t.Helper()
	if got := s.lines(chat); strings.Join(got, "|") != strings.Join(want, "|") {
		s.t.Errorf("chat %d shows\n%q, want\n%q", chat, got, want)
	}
}

func (s *env) wantChat(chat int64, state outbox.RecipientState, reason string) {
	s.t.Helper()
	if r := s.chat(chat); r.State != state || r.Reason != reason {
		s.t.Errorf("chat %d is %s (%s), want %s (%s)", chat, r.State, r.Reason, state, reason)
	}
}

// acts are what customers do, which must be possible.
func (s *env) acts(errs ...error) {
	s.t.Helper()
	for _, err := range errs {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// find reads a message that may not be there.
func (s *env) find(id int64) (m outbox.Message, err error) {
	err = s.db.Read(context.Background(), func(tx database.Tx) (err error) {
		m, err = s.box.Message(tx, id)
		return err
	})
	return m, err
}

// mustSend lets a message go.
func (s *env) mustSend(id int64) {
	s.t.Helper()
	s.run(time.Minute)
	s.wantSent(id)
}
