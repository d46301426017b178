package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"notifier/internal/database"
	"notifier/internal/idempotency"
)

// response is the output of an operation that changes something.
type response[B any] struct {
	Status   int
	Location string `header:"Location"`
	Replayed string `header:"Idempotent-Replayed" doc:"true when this is the first answer to the same Idempotency-Key again"`
	Body     B
}

// change runs do in the transaction of a request, at most once for an Idempotency-Key: the same
// request again gets the first response. fresh, if not nil, fills in what even a repeated response
// tells as it is now.
func change[B any](ctx context.Context, a *API, status int, do func(tx database.Tx, now time.Time) (B, string, error), fresh func(tx database.Tx, b *B) error) (*response[B], error) {
	q := requestOf(ctx)
	hash, err := idempotency.Hash(q.body)
	if err != nil {
		return nil, err
	}
	out := &response[B]{}
	err = a.write(ctx, func(tx database.Tx, now time.Time) error {
		if q.key == "" {
			out.Status = status
			out.Body, out.Location, err = do(tx, now)
		} else {
			out, err = once(tx, now, q, hash, status, do)
		}
		if err != nil || fresh == nil {
			return err
		}
		return fresh(tx, &out.Body)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func once[B any](tx database.Tx, now time.Time, q request, hash [idempotency.HashSize]byte, status int, do func(tx database.Tx, now time.Time) (B, string, error)) (*response[B], error) {
	first, replayed, err := idempotency.Once(tx, now, q.scope, q.key, hash, func() (idempotency.Response, error) {
		b, location, err := do(tx, now)
		if err != nil {
			return idempotency.Response{}, err
		}
		body, err := json.Marshal(b)
		return idempotency.Response{Status: status, Location: location, Body: body}, err
	})
	if err != nil {
		return nil, err
	}
	out := &response[B]{Status: first.Status, Location: first.Location}
	if replayed {
		out.Replayed = "true"
	}
	if err := json.Unmarshal(first.Body, &out.Body); err != nil {
		return nil, fmt.Errorf("read the first response to key %q of %s: %w", q.key, q.scope, err)
	}
	return out, nil
}

// ok is change for operations that create nothing.
func ok[B any](ctx context.Context, a *API, do func(tx database.Tx, now time.Time) (B, error)) (*response[B], error) {
	return change(ctx, a, http.StatusOK, func(tx database.Tx, now time.Time) (B, string, error) {
		b, err := do(tx, now)
		return b, "", err
	}, nil)
}

// output is the output of an operation that changes nothing.
type output[B any] struct{ Body B }

// look runs fn in a transaction that sees one state of the database.
func look[B any](ctx context.Context, a *API, fn func(tx database.Tx, now time.Time) (B, error)) (*output[B], error) {
	out := &output[B]{}
	err := a.read(ctx, func(tx database.Tx, now time.Time) (err error) {
		out.Body, err = fn(tx, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
