package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

func (a *API) registerOrders() {
	register(a, huma.Operation{
		OperationID: "place-order", Method: http.MethodPost, Path: "/orders", Tags: []string{"orders"},
		Summary: "Place an order and tell its customer", DefaultStatus: http.StatusCreated,
	}, a.placeOrder)
	register(a, huma.Operation{
		OperationID: "list-orders", Method: http.MethodGet, Path: "/orders", Tags: []string{"orders"},
		Summary: "List orders, the newest first",
	}, a.listOrders)
	register(a, huma.Operation{
		OperationID: "show-order", Method: http.MethodGet, Path: "/orders/{orderId}", Tags: []string{"orders"},
		Summary: "Show an order with its messages",
	}, a.showOrder)
	register(a, huma.Operation{
		OperationID: "change-order-status", Method: http.MethodPost, Path: "/orders/{orderId}/status", Tags: []string{"orders"},
		Summary: "Move an order on and tell its customer",
	}, a.changeStatus)
}

type placeInput struct {
	KeyHeader
	Body placeBody
}

// KeyHeader lets the header be described; readRequest has read it.
type KeyHeader struct {
	Key string `header:"Idempotency-Key" doc:"makes the request safe to repeat: 1 to 255 visible ASCII characters"`
}

func (a *API) placeOrder(ctx context.Context, in *placeInput) (*response[placedBody], error) {
	n, err := in.Body.order()
	if err != nil {
		return nil, err
	}
	out, err := change(ctx, a, http.StatusCreated, func(tx database.Tx, now time.Time) (placedBody, string, error) {
		o, enqueued, err := a.Orders.Place(tx, now, n)
		b := placedBody{OrderBody: showOrder(o), Messages: refer(enqueued)}
		return b, "/orders/" + strconv.FormatInt(o.ID, 10), err
	}, a.connect)
	if err == nil && out.Replayed == "" {
		a.count(out.Body.Messages)
	}
	return out, err
}

type listOrdersInput struct {
	PageInput
	Number     string `query:"number"`
	CustomerID string `query:"customerId"`
}

func (a *API) listOrders(ctx context.Context, in *listOrdersInput) (*output[page[OrderBody]], error) {
	return look(ctx, a, func(tx database.Tx, _ time.Time) (page[OrderBody], error) {
		find := func(after string, limit int) ([]orders.Order, error) {
			id, err := before(after)
			if err != nil {
				return nil, err
			}
			return a.Orders.Orders(tx, orders.Filter{Number: in.Number, CustomerID: in.CustomerID, Before: id, Limit: limit})
		}
		return fill(in.PageInput, find, showOrder, func(o orders.Order) string { return strconv.FormatInt(o.ID, 10) })
	})
}

// OrderInput names an order.
type OrderInput struct {
	OrderID int64 `path:"orderId"`
}

// messagesShown bounds how many messages of one order are told; an order has a handful.
const messagesShown = 500

func (a *API) showOrder(ctx context.Context, in *OrderInput) (*output[orderPage], error) {
	return look(ctx, a, func(tx database.Tx, now time.Time) (orderPage, error) {
		o, err := a.Orders.Order(tx, in.OrderID)
		if err != nil {
			return orderPage{}, err
		}
		messages, err := a.Outbox.Messages(tx, outbox.Filter{Subject: orders.Subject(o.ID), Limit: messagesShown})
		if err != nil {
			return orderPage{}, err
		}
		summary, err := a.summarize(tx, now, o, messages)
		return orderPage{OrderBody: showOrder(o), Summary: summary, Messages: refer(oldestFirst(messages))}, err
	})
}

func oldestFirst(messages []outbox.Message) []outbox.Message {
	turned := make([]outbox.Message, 0, len(messages))
	for i := len(messages) - 1; i >= 0; i-- {
		turned = append(turned, messages[i])
	}
	return turned
}

type changeStatusInput struct {
	OrderInput
	KeyHeader
	Body statusBody
}

func (a *API) changeStatus(ctx context.Context, in *changeStatusInput) (*response[changedBody], error) {
	c, err := in.Body.change()
	if err != nil {
		return nil, err
	}
	out, err := ok(ctx, a, func(tx database.Tx, now time.Time) (changedBody, error) {
		o, changed, enqueued, err := a.Orders.ChangeStatus(tx, now, in.OrderID, c)
		return changedBody{OrderBody: showOrder(o), Changed: changed, Messages: refer(enqueued)}, err
	})
	if err == nil && out.Replayed == "" {
		a.count(out.Body.Messages)
	}
	return out, err
}

// count counts messages that were committed.
func (a *API) count(messages []messageRef) {
	for _, m := range messages {
		a.Metrics.Enqueued(m.Type)
	}
}
