package orders_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// fakeOutbox is an outbox that only keeps what it is given.
type fakeOutbox struct {
	messages []outbox.NewMessage
	links    map[string]string
	linked   int // how often Link was called
	full     error
}

func (s *fakeOutbox) Enqueue(_ database.Tx, _ time.Time, m outbox.NewMessage) (outbox.Message, error) {
	if s.full != nil {
		return outbox.Message{}, s.full
	}
	s.messages = append(s.messages, m)
	return outbox.Message{ID: int64(len(s.messages)), Recipient: m.Recipient, Type: m.Type, State: outbox.StatePending}, nil
}

func (s *fakeOutbox) Link(_ database.Tx, _ time.Time, alias, target string) error {
	s.linked++
	s.links[alias] = target
	return nil
}

func (s *fakeOutbox) Resolve(_ database.Tx, recipient string) (string, error) {
	if target, ok := s.links[recipient]; ok {
		return target, nil
	}
	if len(recipient) > 9 && recipient[:9] == "customer:" {
		return "", nil
	}
	return recipient, nil
}

func (s *fakeOutbox) Erase(database.Tx, time.Time, string) (int, error) { return len(s.messages), nil }

func (s *fakeOutbox) types() []string {
	var types []string
	for _, m := range s.messages {
		types = append(types, m.Type)
	}
	return types
}

type shop struct {
	t      *testing.T
	db     *database.DB
	outbox *fakeOutbox
	book   *orders.Book
}

func open(t *testing.T, staffChat int64) *shop {
	t.Helper()
	db, err := database.Open(context.Background(), filepath.Join(t.TempDir(), "shop.db"), notifier.Schema, notifier.SchemaVersion, plans.Log())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &fakeOutbox{links: map[string]string{}}
	return &shop{t, db, s, orders.New(s, staffChat)}
}

func (s *shop) place(n orders.NewOrder) (o orders.Order, told []outbox.Message, err error) {
	err = s.db.Write(context.Background(), func(tx database.Tx) error {
		o, told, err = s.book.Place(tx, now, n)
		return err
	})
	return o, told, err
}

func (s *shop) change(id int64, c orders.Change) (o orders.Order, changed bool, err error) {
	err = s.db.Write(context.Background(), func(tx database.Tx) error {
		o, changed, _, err = s.book.ChangeStatus(tx, now, id, c)
		return err
	})
	return o, changed, err
}

func (s *shop) read(id int64) (o orders.Order, err error) {
	err = s.db.Read(context.Background(), func(tx database.Tx) error {
		o, err = s.book.Order(tx, id)
		return err
	})
	return o, err
}

func tea(number string) orders.NewOrder {
	return orders.NewOrder{
		Number:     number,
		Customer:   orders.Mention{ID: "c-17", Name: "Anna", Locale: "ru"},
		Currency:   "EUR",
		TotalCents: 2500,
		Items:      []orders.Item{{Name: "Tea", Quantity: 2, UnitPriceCents: 1250}},
		Note:       "ring twice",
		Metadata:   json.RawMessage(`{"campaign":"spring"}`),
	}
}

func TestPlaceStoresTheOrderAndTellsCustomerAndStaff(t *testing.T) {
	s := open(t, -1001)
	placed, told, err := s.place(tea("A-1001"))
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 {
		t.Fatalf("told %d, want the customer and the staff", len(told))
	}
	read, err := s.read(placed.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(placed, read); diff != "" {
		t.Errorf("the order read is not the order placed (-placed +read):\n%s", diff)
	}
	total := int64(2500)
	payload := orders.Payload{
		OrderID: placed.ID, Number: "A-1001", CustomerName: "Anna", Locale: "ru", Currency: "EUR",
		TotalCents: &total, Items: []orders.Item{{Name: "Tea", Quantity: 2, UnitPriceCents: 1250}}, Note: "ring twice",
	}
	staff := payload
	staff.Locale = ""
	want := []outbox.NewMessage{
		{Recipient: "customer:c-17", Type: "OrderPlaced", Payload: payload, Subject: "order:1", CollapseKey: "order:1"},
		{Recipient: "-1001", Type: "StaffOrderPlaced", Payload: staff, Subject: "order:1"},
	}
	if diff := cmp.Diff(want, s.outbox.messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestPlaceRefusesANumberThatExists(t *testing.T) {
	s := open(t, 0)
	first, _, err := s.place(tea("A-1"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.place(tea("A-1"))
	var exists *orders.ExistsError
	if !errors.As(err, &exists) || exists.OrderID != first.ID {
		t.Fatalf("error is %v, want one that names order %d", err, first.ID)
	}
	if len(s.outbox.messages) != 1 {
		t.Errorf("%d messages, want the first order's only", len(s.outbox.messages))
	}
	for range 2 { // without a number there is nothing to repeat
		if _, _, err := s.place(tea("")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPlaceRefusesWhatIsNoCurrency(t *testing.T) {
	s := open(t, 0)
	for _, code := range []string{"", "EURO", "eur", "XXQ"} {
		n := tea("")
		n.Currency = code
		var bad *orders.CurrencyError
		if _, _, err := s.place(n); !errors.As(err, &bad) {
			t.Errorf("currency %q: %v, want a refusal", code, err)
		}
	}
}

// Without its message there is no order.
func TestPlaceWithoutRoomForItsMessageLeavesNothing(t *testing.T) {
	s := open(t, 0)
	s.outbox.full = errors.New("no space left")
	if _, _, err := s.place(tea("A-1")); !errors.Is(err, s.outbox.full) {
		t.Fatalf("error is %v", err)
	}
	if _, err := s.read(1); !errors.Is(err, orders.ErrNotFound) {
		t.Errorf("there is an order: %v", err)
	}
}

func TestCustomersAreRememberedAndTheirNewsTakenOver(t *testing.T) {
	s := open(t, 0)
	if _, _, err := s.place(tea("")); err != nil {
		t.Fatal(err)
	}
	n := tea("")
	n.Customer = orders.Mention{ID: "c-17"} // says nothing new
	if _, _, err := s.place(n); err != nil {
		t.Fatal(err)
	}
	n.Customer = orders.Mention{ID: "c-17", Name: "Anna K."}
	if _, _, err := s.place(n); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range s.outbox.messages {
		p, ok := m.Payload.(orders.Payload)
		if !ok {
			t.Fatalf("payload is %T", m.Payload)
		}
		names = append(names, p.CustomerName+"/"+p.Locale)
	}
	if diff := cmp.Diff([]string{"Anna/ru", "Anna/ru", "Anna K./ru"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestAChatBindsTheCustomerOnce(t *testing.T) {
	s := open(t, 0)
	for _, step := range []struct {
		chat   int64
		links  int
		target string
	}{{0, 0, ""}, {701, 1, "701"}, {701, 1, "701"}, {702, 2, "702"}, {0, 2, "702"}} {
		n := tea("")
		n.Customer.ChatID = step.chat
		if _, _, err := s.place(n); err != nil {
			t.Fatal(err)
		}
		if s.outbox.linked != step.links || s.outbox.links["customer:c-17"] != step.target {
			t.Errorf("after chat %d: %d links, chat %s; want %d and %s", step.chat,
				s.outbox.linked, s.outbox.links["customer:c-17"], step.links, step.target)
		}
	}
}

func TestOrdersListsTheNewestFirst(t *testing.T) {
	s := open(t, 0)
	for _, number := range []string{"A-1", "A-2", "A-3"} {
		if _, _, err := s.place(tea(number)); err != nil {
			t.Fatal(err)
		}
	}
	other := tea("B-1")
	other.Customer.ID = "c-18"
	if _, _, err := s.place(other); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter orders.Filter
		want   []string
	}{
		{orders.Filter{Limit: 10}, []string{"B-1", "A-3", "A-2", "A-1"}},
		{orders.Filter{Limit: 2, Before: 4}, []string{"A-3", "A-2"}},
		{orders.Filter{Limit: 2, CustomerID: "c-17"}, []string{"A-3", "A-2"}},
		{orders.Filter{Limit: 2, CustomerID: "c-17", Before: 2}, []string{"A-1"}},
		{orders.Filter{Limit: 2, Number: "A-2"}, []string{"A-2"}},
		{orders.Filter{Limit: 2, Number: "Z"}, nil},
	} {
		var numbers []string
		err := s.db.Read(context.Background(), func(tx database.Tx) error {
			found, err := s.book.Orders(tx, c.filter)
			for _, o := range found {
				numbers = append(numbers, o.Number)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, numbers); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
		}
	}
}

func TestSubjectAndBack(t *testing.T) {
	for subject, want := range map[string]int64{"order:17": 17, "order:": 0, "order:-3": 0, "17": 0, "": 0} {
		if got := orders.SubjectID(subject); got != want {
			t.Errorf("SubjectID(%q) = %d, want %d", subject, got, want)
		}
	}
	if got := orders.SubjectID(orders.Subject(9)); got != 9 {
		t.Errorf("there and back: %d", got)
	}
}
