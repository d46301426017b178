package httpapi

import (
	"context"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// bulkMessagesBody chooses messages that ended without success.
type bulkMessagesBody struct {
	State string `json:"state" enum:"dead,uncertain,canceled"`
	BulkRest
}

// bulkChatsBody chooses chats that cannot be written to.
type bulkChatsBody struct {
	State string `json:"state" enum:"dead,doubtful"`
	BulkRest
}

// BulkRest narrows the choice.
type BulkRest struct {
	Reason string    `json:"reason,omitempty" maxLength:"64" doc:"only those with this reason"`
	Since  time.Time `json:"since,omitzero" doc:"only those that are so since this time"`
	DryRun bool      `json:"dryRun,omitempty" doc:"only count them"`
}

func (r BulkRest) choose(state string) outbox.Bulk {
	return outbox.Bulk{State: state, Reason: r.Reason, Since: r.Since, DryRun: r.DryRun}
}

type countBody struct {
	Count int `json:"count"`
}

type retryAllInput struct {
	KeyHeader
	Body bulkMessagesBody
}

func (a *API) retryMessages(ctx context.Context, in *retryAllInput) (*answer[countBody], error) {
	return ok(ctx, a, func(tx database.Tx, now time.Time) (countBody, error) {
		n, err := a.Outbox.RetryAll(tx, now, in.Body.choose(in.Body.State))
		return countBody{n}, err
	})
}

type reviveAllInput struct {
	Body bulkChatsBody
}

func (a *API) reviveChats(ctx context.Context, in *reviveAllInput) (*answer[countBody], error) {
	return ok(ctx, a, func(tx database.Tx, _ time.Time) (countBody, error) {
		n, err := a.Outbox.ReviveAll(tx, in.Body.choose(in.Body.State))
		return countBody{n}, err
	})
}
