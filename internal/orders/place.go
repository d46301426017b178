package orders

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bojanz/currency"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// NewOrder is what Place stores.
type NewOrder struct {
	Number     string // optional, unique
	Customer   Mention
	Currency   string // ISO 4217
	TotalCents int64
	Items      []Item
	Note       string
	Metadata   json.RawMessage // an object, or nil
}

// CurrencyError says that a code is no currency of ISO 4217.
type CurrencyError struct{ Code string }

// Error implements error.
func (e *CurrencyError) Error() string {
	return fmt.Sprintf("%q is no currency of ISO 4217; write for instance EUR, USD or JPY", e.Code)
}

// ExistsError says that there is an order with this number already.
type ExistsError struct {
	Number  string
	OrderID int64
}

// Error implements error.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("order number %s exists already: it is order %d", e.Number, e.OrderID)
}

// Place stores an order and the messages that tell of it: one for its customer, one for the
// shop's own people when they want to hear. Its errors are a *CurrencyError or an *ExistsError,
// or come from the database.
func (b *Book) Place(tx database.Tx, now time.Time, n NewOrder) (Order, []outbox.Message, error) {
	if n.Currency == "" || !currency.IsValid(n.Currency) { // the library calls none valid
		return Order{}, nil, &CurrencyError{n.Currency}
	}
	c, err := b.ensureCustomer(tx, now, n.Customer)
	if err != nil {
		return Order{}, nil, fmt.Errorf("place order %s: %w", n.Number, err)
	}
	o, err := insert(tx, now, n)
	if err != nil {
		return Order{}, nil, fmt.Errorf("place order %s: %w", n.Number, err)
	}
	p := payload(o, c, o.Note, "")
	messages, err := b.enqueue(tx, now, o, TypePlaced, p)
	if err != nil {
		return Order{}, nil, fmt.Errorf("place order %s: %w", n.Number, err)
	}
	if b.staffChat == "" {
		return o, messages, nil
	}
	staff, err := b.outbox.Enqueue(tx, now, outbox.NewMessage{
		Recipient: b.staffChat, Type: TypeStaffPlaced, Payload: forStaff(p), Subject: Subject(o.ID),
	})
	if err != nil {
		return Order{}, nil, fmt.Errorf("place order %s: tell the staff: %w", n.Number, err)
	}
	return o, append(messages, staff), nil
}

func insert(tx database.Tx, now time.Time, n NewOrder) (Order, error) {
	o := Order{
		Number: n.Number, CustomerID: n.Customer.ID, Status: Placed, Currency: n.Currency,
		TotalCents: n.TotalCents, Items: n.Items, Note: n.Note, Metadata: n.Metadata,
		CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
	if o.Items == nil {
		o.Items = []Item{}
	}
	if o.Metadata == nil {
		o.Metadata = json.RawMessage("{}")
	}
	o.UpdatedAt = o.CreatedAt
	items, err := json.Marshal(o.Items)
	if err != nil {
		return Order{}, err
	}
	// A number that is taken is an answer, not an error of the database: it must leave the
	// transaction usable in every store.
	err = tx.QueryRow(`INSERT INTO notifier_orders (number, customer_id, status, currency, total_cents,
			items, note, metadata, created_at, updated_at)
		VALUES (nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (number) DO NOTHING RETURNING id`,
		o.Number, o.CustomerID, o.Status, o.Currency, o.TotalCents, string(items), o.Note,
		string(o.Metadata), o.CreatedAt.UnixMilli(), o.UpdatedAt.UnixMilli()).Scan(&o.ID)
	if errors.Is(err, sql.ErrNoRows) {
		taken := &ExistsError{Number: n.Number}
		if err := tx.QueryRow("SELECT id FROM notifier_orders WHERE number = ?", n.Number).Scan(&taken.OrderID); err != nil {
			return Order{}, err
		}
		return Order{}, taken
	}
	return o, err
}

// enqueue hands the customer's message to the outbox. It goes to the customer, not to a chat, so
// that it waits for a link and follows one that is replaced.
func (b *Book) enqueue(tx database.Tx, now time.Time, o Order, typ string, p Payload) ([]outbox.Message, error) {
	m, err := b.outbox.Enqueue(tx, now, outbox.NewMessage{
		Recipient: Recipient(o.CustomerID), Type: typ, Payload: p,
		Subject: Subject(o.ID), CollapseKey: Subject(o.ID),
	})
	if err != nil {
		return nil, fmt.Errorf("tell customer %s: %w", o.CustomerID, err)
	}
	return []outbox.Message{m}, nil
}

func payload(o Order, c Customer, note, trackingURL string) Payload {
	total := o.TotalCents
	return Payload{
		OrderID: o.ID, Number: o.Number, CustomerName: c.Name, Locale: c.Locale, Currency: o.Currency,
		TotalCents: &total, Items: o.Items, Note: note, TrackingURL: trackingURL,
	}
}

// forStaff leaves out the customer's language: the shop's people read the shop's.
func forStaff(p Payload) Payload {
	p.Locale = ""
	return p
}
