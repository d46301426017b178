package httpapi

import (
	"context"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// bulkMessagesBody chooses messages that ended without success.
type bulkMessagesBody struct {
	State  string `json:"state" enum:"dead,uncertain,canceled"`
	Reason string `json:"reason,omitempty" enum:"chat_dead,chat_not_found,no_rights,rejected,template_error,too_many_attempts,expired,canceled,superseded,stopped" doc:"only those with this reason"`
	BulkRest
}

// bulkChatsBody chooses chats that cannot be written to.
type bulkChatsBody struct {
	State  string `json:"state" enum:"dead,doubtful"`
	Reason string `json:"reason,omitempty" enum:"blocked,deactivated,kicked,never_started,stopped,other" doc:"only those with this reason"`
	BulkRest
}

// BulkRest narrows the choice.
type BulkRest struct {
	Since  time.Time `json:"since,omitzero" doc:"only those that are so since this time"`
	DryRun bool      `json:"dryRun,omitempty" doc:"only count them"`
}

func (r BulkRest) choose(state, reason string) outbox.Bulk {
	return outbox.Bulk{State: state, Reason: reason, Since: r.Since, DryRun: r.DryRun}
}

type countBody struct {
	Count int `json:"count"`
}

type retryAllInput struct {
	KeyHeader
	Body bulkMessagesBody
}

func (a *API) retryMessages(ctx context.Context, in *retryAllInput) (*response[countBody], error) {
	return ok(ctx, a, func(tx database.Tx, now time.Time) (countBody, error) {
		n, err := a.Outbox.RetryAll(tx, now, in.Body.choose(in.Body.State, in.Body.Reason))
		return countBody{n}, err
	})
}

type reviveAllInput struct {
	Body bulkChatsBody
}

func (a *API) reviveChats(ctx context.Context, in *reviveAllInput) (*response[countBody], error) {
	return ok(ctx, a, func(tx database.Tx, _ time.Time) (countBody, error) {
		n, err := a.Outbox.ReviveAll(tx, in.Body.choose(in.Body.State, in.Body.Reason))
		return countBody{n}, err
	})
}
