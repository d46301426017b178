package orders

import (
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// Status says how far an order has come.
type Status string

// The statuses of an order. schema.sql holds the same words in a CHECK.
const (
	Placed    Status = "placed"
	Paid      Status = "paid"
	Ready     Status = "ready"
	Shipped   Status = "shipped"
	Delivered Status = "delivered"
	Canceled  Status = "canceled"
	Refunded  Status = "refunded"
)

// Statuses are all of them, in the order in which an order passes through them.
func Statuses() []Status {
	return []Status{Placed, Paid, Ready, Shipped, Delivered, Canceled, Refunded}
}

// next lists where an order can go from each status. Forward only; steps may be skipped.
var next = map[Status][]Status{
	Placed:    {Paid, Ready, Shipped, Delivered, Canceled},
	Paid:      {Ready, Shipped, Delivered, Canceled, Refunded},
	Ready:     {Shipped, Delivered, Canceled, Refunded},
	Shipped:   {Delivered, Refunded},
	Delivered: {Refunded},
	Canceled:  {Refunded},
	Refunded:  {},
}

// typeOf is the type of the message that tells of a new status.
var typeOf = map[Status]string{
	Placed:    TypePlaced,
	Paid:      TypePaid,
	Ready:     TypeReady,
	Shipped:   TypeShipped,
	Delivered: TypeDelivered,
	Canceled:  TypeCanceled,
	Refunded:  TypeRefunded,
}

// CanBecome says whether an order can go from one status to another.
func (s Status) CanBecome(to Status) bool {
	for _, n := range next[s] {
		if n == to {
			return true
		}
	}
	return false
}

// StatusError says that an order cannot go to a status from where it is.
type StatusError struct {
	OrderID  int64
	From, To Status
}

// Error implements error.
func (e *StatusError) Error() string {
	if len(next[e.From]) == 0 {
		return fmt.Sprintf("order %d is %s, which is final: it cannot become %s", e.OrderID, e.From, e.To)
	}
	return fmt.Sprintf("order %d is %s: from there it can become %v, but not %s", e.OrderID, e.From, next[e.From], e.To)
}

// Change is a new status, or news about the present one.
type Change struct {
	Status      Status
	Note        string
	TrackingURL string
}

// ChangeStatus moves an order on and enqueues the message that tells of it. The status that the
// order has already is no change, and no message, unless its note or tracking address is new:
// that is stored and told once, as TypeTracking. Its error is ErrNotFound or a *StatusError, or
// comes from the database.
func (b *Book) ChangeStatus(tx database.Tx, now time.Time, orderID int64, c Change) (o Order, changed bool, enqueued []outbox.Message, err error) {
	o, err = b.Order(tx, orderID)
	if err != nil {
		return Order{}, false, nil, err
	}
	typ := typeOf[c.Status]
	if c.Status == o.Status {
		if !c.hasNews(o) {
			return o, false, nil, nil
		}
		typ = TypeTracking
	} else if !o.Status.CanBecome(c.Status) {
		return Order{}, false, nil, &StatusError{OrderID: orderID, From: o.Status, To: c.Status}
	}
	if o, err = c.apply(tx, now, o); err != nil {
		return Order{}, false, nil, fmt.Errorf("change order %d: %w", orderID, err)
	}
	enqueued, err = b.tell(tx, now, o, typ, c)
	if err != nil {
		return Order{}, false, nil, fmt.Errorf("change order %d: %w", orderID, err)
	}
	return o, true, enqueued, nil
}

// hasNews says whether c tells anything that o does not know. What c leaves out is not taken away.
func (c Change) hasNews(o Order) bool {
	return (c.Note != "" && c.Note != o.StatusNote) || (c.TrackingURL != "" && c.TrackingURL != o.TrackingURL)
}

func (c Change) apply(tx database.Tx, now time.Time, o Order) (Order, error) {
	if c.Note != "" || c.Status != o.Status {
		o.StatusNote = c.Note // a note belongs to its status
	}
	if c.TrackingURL != "" {
		o.TrackingURL = c.TrackingURL
	}
	o.Status, o.UpdatedAt = c.Status, now.UTC().Truncate(time.Millisecond)
	_, err := tx.Exec(`UPDATE notifier_orders SET status = ?, status_note = ?, tracking_url = ?, updated_at = ? WHERE id = ?`,
		o.Status, o.StatusNote, o.TrackingURL, o.UpdatedAt.UnixMilli(), o.ID)
	return o, err
}

func (b *Book) tell(tx database.Tx, now time.Time, o Order, typ string, c Change) ([]outbox.Message, error) {
	who, err := customer(tx, o.CustomerID)
	if err != nil {
		return nil, err
	}
	note, tracking := c.Note, c.TrackingURL
	if typ == TypeTracking { // it tells all there is to know now
		note, tracking = o.StatusNote, o.TrackingURL
	}
	return b.enqueue(tx, now, o, typ, payload(o, who, note, tracking))
}
