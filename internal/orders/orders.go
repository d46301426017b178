// Package orders owns orders, their statuses, and the customers they belong to. It decides which
// messages an order gives rise to and what they carry.
//
// It does not own a transaction, deliver anything, or know how a message looks: every function
// works inside the transaction of its caller (httpapi), hands its messages to the outbox within
// it, and so both are committed together or not at all.
package orders

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// Outbox is what orders need of the outbox.
type Outbox interface {
	Enqueue(tx database.Tx, now time.Time, m outbox.NewMessage) (outbox.Message, error)
	Link(tx database.Tx, now time.Time, alias, target string) error
	Resolve(tx database.Tx, recipient string) (address string, err error)
	Erase(tx database.Tx, now time.Time, recipient string) (int, error)
}

// Book is the book of orders of one shop.
type Book struct {
	outbox    Outbox
	staffChat string // hears of every new order; empty when nobody wants to
}

// New returns a Book that hands its messages to o. staffChat is the chat of the shop's own people,
// or 0.
func New(o Outbox, staffChat int64) *Book {
	b := &Book{outbox: o}
	if staffChat != 0 {
		b.staffChat = strconv.FormatInt(staffChat, 10)
	}
	return b
}

// Order is one order as it stands.
type Order struct {
	ID          int64
	Number      string // the shop's own; empty when it has none
	CustomerID  string
	Status      Status
	Currency    string // ISO 4217
	TotalCents  int64  // in the currency's minor unit
	Items       []Item
	Note        string
	Metadata    json.RawMessage // an object of the shop's, only kept
	StatusNote  string          // given with the latest change of status
	TrackingURL string
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Name is what people call the order: its number, or its id when it has none.
func (o Order) Name() string {
	if o.Number != "" {
		return o.Number
	}
	return strconv.FormatInt(o.ID, 10)
}

// Subject is what the outbox calls the messages about the order with this id.
func Subject(orderID int64) string { return "order:" + strconv.FormatInt(orderID, 10) }

// SubjectID is the order id in a subject of Subject, or 0 when it is none.
func SubjectID(subject string) int64 {
	id, found := strings.CutPrefix(subject, "order:")
	if !found {
		return 0
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// ErrNotFound says that there is no such order.
var ErrNotFound = errors.New("not found")

const columns = `id, coalesce(number, ''), customer_id, status, currency, total_cents, items, note,
	metadata, status_note, tracking_url, created_at, updated_at`

// Order reads one order. Its error is ErrNotFound when there is none with this id.
func (b *Book) Order(tx database.Tx, id int64) (Order, error) {
	o, err := scan(tx.QueryRow("SELECT "+columns+" FROM notifier_orders WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Order{}, fmt.Errorf("read order %d: %w", id, err)
	}
	return o, nil
}

// Filter chooses orders for a list, newest first. Empty fields choose all.
type Filter struct {
	Number     string
	CustomerID string
	Before     int64 // only ids below this one; 0 from the newest
	Limit      int
}

// Orders reads the orders that f chooses.
func (b *Book) Orders(tx database.Tx, f Filter) ([]Order, error) {
	where, args := "WHERE 1 = 1", []any{}
	restrict := func(condition string, arg any) {
		where += " AND " + condition
		args = append(args, arg)
	}
	if f.Number != "" {
		restrict("number = ?", f.Number)
	}
	if f.CustomerID != "" {
		restrict("customer_id = ?", f.CustomerID)
	}
	if f.Before > 0 {
		restrict("id < ?", f.Before)
	}
	return b.list(tx, where+" ORDER BY id DESC LIMIT ?", append(args, f.Limit)...)
}

// list reads the orders that a condition, with order and limit, chooses.
func (b *Book) list(tx database.Tx, where string, args ...any) ([]Order, error) {
	rows, err := tx.Query("SELECT "+columns+" FROM notifier_orders "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var found []Order
	for rows.Next() {
		o, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("list orders: %w", err)
		}
		found = append(found, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	return found, nil
}

func scan(row database.Row) (Order, error) {
	var (
		o                Order
		items, metadata  string
		created, updated int64
	)
	err := row.Scan(&o.ID, &o.Number, &o.CustomerID, &o.Status, &o.Currency, &o.TotalCents, &items,
		&o.Note, &metadata, &o.StatusNote, &o.TrackingURL, &created, &updated)
	if err != nil {
		return Order{}, err
	}
	if err := json.Unmarshal([]byte(items), &o.Items); err != nil {
		return Order{}, fmt.Errorf("its items: %w", err)
	}
	o.Metadata = json.RawMessage(metadata)
	o.CreatedAt, o.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return o, nil
}
