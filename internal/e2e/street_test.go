package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
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

// street is a town where customers answer: orders are placed, updates come in, and texts are those
// that customers read.
type street struct {
	*town
	book   *orders.Book
	inbox  *updates.Inbox
	poller *updates.Poller
}

// inStreet tells a case.
func inStreet(t *testing.T, story func(*street)) {
	t.Helper()
	texts, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rendered := func(typ string, payload json.RawMessage) (telegram.Rendered, error) {
		made, err := texts.Render(typ, payload)
		return telegram.Rendered{HTML: made.HTML, Plain: made.Plain}, err
	}
	inTown(t, func(s *settings) { s.render = rendered }, func(c *town) {
		s := &street{town: c}
		s.wire()
		defer func() { s.inbox.Close() }()
		story(s)
	})
}

func (s *street) wire() {
	s.book = orders.New(s.box, staffChat)
	handler := bot.New(bot.Options{Outbox: s.box, Orders: s.book, StaffChat: staffChat})
	s.inbox = updates.NewInbox(updates.InboxOptions{DB: s.db, Handler: handler, Client: s.client, Committed: func() { s.sender.Wake() }})
	s.poller = updates.NewPoller(updates.PollerOptions{Client: s.client, Inbox: s.inbox})
}

// restart begins with what is on disk.
func (s *street) restart() {
	s.inbox.Close()
	s.town.restart()
	s.wire()
}

// run lets the service run for a time.
func (s *street) run(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		s.poller.Run(ctx)
	}()
	s.town.run(d)
	cancel()
	<-polled
}

// place stores an order and returns its id.
func (s *street) place(customer, number string) (id int64) {
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

func (s *street) change(id int64, status orders.Status) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		_, _, _, err := s.book.ChangeStatus(tx, time.Now(), id, orders.Change{Status: status})
		return err
	})
}

func (s *street) invite(customer string) (token string) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		i, err := s.book.Invite(tx, time.Now(), customer)
		token = i.Token
		return err
	})
	return token
}

func (s *street) speaks(locale, customer string) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		return s.book.EnsureCustomer(tx, time.Now(), orders.Mention{ID: customer, Locale: locale})
	})
}

func (s *street) chatOf(customer string) (address string) {
	s.t.Helper()
	s.write(func(tx database.Tx) (err error) {
		address, err = s.box.Resolve(tx, orders.Recipient(customer))
		return err
	})
	return address
}

// lines are the first lines of what a chat shows, which name what it is.
func (s *street) lines(chat int64) (lines []string) {
	for _, shown := range s.texts(chat) {
		first, _, _ := strings.Cut(shown, "\n")
		lines = append(lines, first)
	}
	return lines
}

func (s *street) wantLines(chat int64, want ...string) {
	s.t.Helper()
	if got := s.lines(chat); strings.Join(got, "|") != strings.Join(want, "|") {
		s.t.Errorf("chat %d shows\n%q, want\n%q", chat, got, want)
	}
}

func (s *street) wantChat(chat int64, state outbox.RecipientState, reason string) {
	s.t.Helper()
	if r := s.chat(chat); r.State != state || r.Reason != reason {
		s.t.Errorf("chat %d is %s (%s), want %s (%s)", chat, r.State, r.Reason, state, reason)
	}
}

// acts are what customers do, which must be possible.
func (s *street) acts(errs ...error) {
	s.t.Helper()
	for _, err := range errs {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// find reads a message that may not be there.
func (s *street) find(id int64) (m outbox.Message, err error) {
	err = s.db.Read(context.Background(), func(tx database.Tx) (err error) {
		m, err = s.box.Message(tx, id)
		return err
	})
	return m, err
}

// mustSend lets a message go.
func (s *street) mustSend(id int64) {
	s.t.Helper()
	s.run(time.Minute)
	s.wantSent(id)
}
