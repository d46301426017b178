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

func (a *API) registerMessages() {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{"messages"}}
	}
	send := op("send-message", http.MethodPost, "/messages", "Send a message to a chat or a customer")
	send.DefaultStatus = http.StatusCreated
	register(a, send, a.sendMessage)
	register(a, op("list-messages", http.MethodGet, "/messages", "List messages, the newest first"), a.listMessages)
	register(a, op("show-message", http.MethodGet, "/messages/{messageId}", "Show a message with its attempts"), a.showMessage)
	register(a, op("explain-message", http.MethodGet, "/messages/{messageId}/explain", "Say why a message has not been sent, and when it will move"), a.explainMessage)
	register(a, op("retry-message", http.MethodPost, "/messages/{messageId}/retry", "Send a message again that ended without success"), a.retryMessage)
	register(a, op("retry-messages", http.MethodPost, "/messages/retry", "Send all messages again that are chosen"), a.retryMessages)
	register(a, op("cancel-message", http.MethodPost, "/messages/{messageId}/cancel", "Cancel a message that has not been sent"), a.cancelMessage)
	register(a, op("send-message-now", http.MethodPost, "/messages/{messageId}/send-now", "Forget a message's notBefore and back-off"), a.sendMessageNow)
}

type sendInput struct {
	KeyHeader
	Body sendBody
}

func (a *API) sendMessage(ctx context.Context, in *sendInput) (*response[MessageBody], error) {
	n, err := in.Body.message(a.CheckText)
	if err != nil {
		return nil, err
	}
	out, err := change(ctx, a, http.StatusCreated, func(tx database.Tx, now time.Time) (MessageBody, string, error) {
		if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now) {
			return MessageBody{}, "", invalid("/expiresAt", "has passed")
		}
		if id := in.Body.CustomerID; id != "" {
			if err := a.Orders.EnsureCustomer(tx, now, orders.Mention{ID: id}); err != nil {
				return MessageBody{}, "", err
			}
		}
		m, err := a.Outbox.Enqueue(tx, now, n)
		return showMessage(m), "/messages/" + strconv.FormatInt(m.ID, 10), err
	}, nil)
	if err == nil && out.Replayed == "" {
		a.Metrics.Enqueued(out.Body.Type)
	}
	return out, err
}

type listMessagesInput struct {
	PageInput
	State     outbox.State `query:"state" enum:"pending,sending,sent,uncertain,dead,canceled"`
	Reason    string       `query:"reason" enum:"chat_dead,chat_not_found,no_rights,rejected,template_error,too_many_attempts,expired,canceled,superseded,stopped"`
	Recipient string       `query:"recipient" doc:"a chat id, or customer:<id>"`
	OrderID   int64        `query:"orderId" minimum:"1"`
}

func (a *API) listMessages(ctx context.Context, in *listMessagesInput) (*output[page[MessageBody]], error) {
	if f := checkRecipient("/query/recipient", in.Recipient); f != nil {
		return nil, f
	}
	f := outbox.Filter{State: in.State, Reason: in.Reason, Recipient: in.Recipient}
	if in.OrderID > 0 {
		f.Subject = orders.Subject(in.OrderID)
	}
	return look(ctx, a, func(tx database.Tx, _ time.Time) (page[MessageBody], error) {
		find := func(after string, limit int) ([]outbox.Message, error) {
			var err error
			if f.Before, err = before(after); err != nil {
				return nil, err
			}
			f.Limit = limit
			return a.Outbox.Messages(tx, f)
		}
		return fill(in.PageInput, find, showMessage, func(m outbox.Message) string { return strconv.FormatInt(m.ID, 10) })
	})
}

// MessageInput names a message.
type MessageInput struct {
	MessageID int64 `path:"messageId"`
}

func (a *API) showMessage(ctx context.Context, in *MessageInput) (*output[messagePage], error) {
	return look(ctx, a, func(tx database.Tx, _ time.Time) (messagePage, error) {
		m, err := a.Outbox.Message(tx, in.MessageID)
		if err != nil {
			return messagePage{}, err
		}
		attempts, err := a.Outbox.Attempts(tx, m.ID)
		return messagePage{MessageBody: showMessage(m), Attempts: showAttempts(attempts)}, err
	})
}

func (a *API) explainMessage(ctx context.Context, in *MessageInput) (*output[explanationBody], error) {
	return look(ctx, a, func(tx database.Tx, now time.Time) (explanationBody, error) {
		e, err := a.explain(tx, now, in.MessageID)
		return explanationBody{
			MessageID: in.MessageID, State: e.Message.State, Code: e.Code, Text: e.Text, Until: instant(e.Until),
		}, err
	})
}

type retryInput struct {
	MessageInput
	KeyHeader
	Body *struct {
		Force bool `json:"force,omitempty" doc:"although a later message of its order was sent, or its expiresAt has passed"`
	}
}

func (a *API) retryMessage(ctx context.Context, in *retryInput) (*response[MessageBody], error) {
	force := in.Body != nil && in.Body.Force
	return ok(ctx, a, func(tx database.Tx, now time.Time) (MessageBody, error) {
		m, err := a.Outbox.Retry(tx, now, in.MessageID, force)
		return showMessage(m), err
	})
}

// Nothing is the body of a request that has nothing to say: it may be {} or not there.
type Nothing struct {
	Body *struct{}
}

type actInput struct {
	MessageInput
	KeyHeader
	Nothing
}

func (a *API) cancelMessage(ctx context.Context, in *actInput) (*response[MessageBody], error) {
	return ok(ctx, a, func(tx database.Tx, now time.Time) (MessageBody, error) {
		m, err := a.Outbox.Cancel(tx, now, in.MessageID)
		return showMessage(m), err
	})
}

func (a *API) sendMessageNow(ctx context.Context, in *actInput) (*response[MessageBody], error) {
	return ok(ctx, a, func(tx database.Tx, now time.Time) (MessageBody, error) {
		m, err := a.Outbox.SendNow(tx, now, in.MessageID)
		return showMessage(m), err
	})
}
