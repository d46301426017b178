package httpapi

import (
	"context"
	"errors"
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

// check says what the schema cannot: since is zero when it is not given.
func (r BulkRest) check() error {
	if r.Since.IsZero() {
		return nil
	}
	return checkTime("/since", &r.Since)
}

type countBody struct {
	Count int `json:"count"`
}

type retryAllInput struct {
	KeyHeader
	Body bulkMessagesBody
}

func (a *API) retryMessages(ctx context.Context, in *retryAllInput) (*response[countBody], error) {
	if err := in.Body.check(); err != nil {
		return nil, err
	}
	return bulk(ctx, a, in.Body.choose(in.Body.State, in.Body.Reason), a.Outbox.RetryAll)
}

type reviveAllInput struct {
	Body bulkChatsBody
}

func (a *API) reviveChats(ctx context.Context, in *reviveAllInput) (*response[countBody], error) {
	if err := in.Body.check(); err != nil {
		return nil, err
	}
	return bulk(ctx, a, in.Body.choose(in.Body.State, in.Body.Reason), a.Outbox.ReviveAll)
}

// errNotAnswered says that a request with its key has no stored response yet.
var errNotAnswered = errors.New("not answered yet")

// bulk acts in many small transactions, and stores the response to an Idempotency-Key in the last.
// What was done stays done when the request is cut off: the rest is done by the sender.
func bulk(ctx context.Context, a *API, b outbox.Bulk, act func(context.Context, *database.DB, time.Time, outbox.Bulk) (int, error)) (*response[countBody], error) {
	if requestOf(ctx).key != "" {
		first, err := ok(ctx, a, func(database.Tx, time.Time) (countBody, error) { return countBody{}, errNotAnswered })
		if !errors.Is(err, errNotAnswered) {
			return first, err
		}
	}
	n, err := act(ctx, a.DB, a.Now(), b)
	if err != nil {
		return nil, &storageError{err}
	}
	return ok(ctx, a, func(database.Tx, time.Time) (countBody, error) { return countBody{n}, nil })
}
