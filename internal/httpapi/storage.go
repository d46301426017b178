package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/database"
	"notifier/internal/idempotency"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// storageError says that the database could not do what it was asked, through no fault of the
// request: asking again later helps.
type storageError struct{ err error }

func (e *storageError) Error() string { return e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// write runs fn in the transaction of a request. When it returns nil, the commit is on disk and
// the sender has been woken.
func (a *API) write(ctx context.Context, fn func(tx database.Tx, now time.Time) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	var refused error
	err := a.DB.Write(ctx, func(tx database.Tx) error {
		refused = fn(tx, a.Now())
		return refused
	})
	switch {
	case err == nil:
		a.Wake()
		return nil
	case refused == nil || database.Unavailable(err):
		return &storageError{err}
	}
	return err
}

// read runs fn in a transaction that sees one state of the database.
func (a *API) read(ctx context.Context, fn func(tx database.Tx, now time.Time) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	var refused error
	err := a.DB.Read(ctx, func(tx database.Tx) error {
		refused = fn(tx, a.Now())
		return refused
	})
	if err != nil && (refused == nil || database.Unavailable(err)) {
		return &storageError{err}
	}
	return err
}

// failureOf turns the error of an operation into what its client is told.
func (a *API) failureOf(ctx context.Context, op huma.Operation, err error) *Failure {
	var (
		told     *Failure
		conflict *outbox.ConflictError
		exists   *orders.ExistsError
		status   *orders.StatusError
		currency *orders.CurrencyError
		storage  *storageError
	)
	switch {
	case errors.As(err, &told):
		return told
	case errors.Is(err, orders.ErrNotFound), errors.Is(err, outbox.ErrNotFound):
		return failure(http.StatusNotFound, codeNotFound, "there is none with this id")
	case errors.As(err, &conflict):
		return failure(http.StatusConflict, conflict.Code, conflict.Detail)
	case errors.As(err, &status):
		return failure(http.StatusConflict, codeStatusConflict, statusWords(status))
	case errors.As(err, &exists):
		f := failure(http.StatusConflict, codeOrderExists, exists.Error())
		f.OrderID = exists.OrderID
		return f
	case errors.As(err, &currency):
		return invalid("/currency", currency.Error())
	case errors.Is(err, idempotency.ErrReused):
		return failure(http.StatusUnprocessableEntity, codeKeyReused, idempotency.ErrReused.Error())
	case errors.As(err, &storage):
		return a.storageFailure(ctx, op, storage)
	}
	return a.unexpected(ctx, op.Method+" "+op.Path, err)
}

// storageFailure tells the client to come again, and the owner what is wrong, unless all that
// happened is that the client has gone.
func (a *API) storageFailure(ctx context.Context, op huma.Operation, err error) *Failure {
	if ctx.Err() == nil {
		a.Log.ErrorContext(ctx, "the database cannot work at present", "request", op.Method+" "+op.Path, "err", err)
	}
	return failure(http.StatusServiceUnavailable, codeStorage,
		"the database cannot take this at present, nothing was stored: send it again, with the same Idempotency-Key if it has one").
		retryAfter(storageRetrySeconds * time.Second)
}

// unexpected gives an error that nobody foresaw an id, under which it is in the log.
func (a *API) unexpected(ctx context.Context, request string, err error) *Failure {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	id := hex.EncodeToString(b[:])
	a.Log.ErrorContext(ctx, "unexpected error", "errorId", id, "request", request, "err", err)
	f := failure(http.StatusInternalServerError, codeInternal, "something unexpected went wrong; the service's log has it under "+id)
	f.ErrorID = id
	return f
}

// recoverPanic keeps a panic of one request from the others.
func (a *API) recoverPanic(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // it is this very value
		panic(p)
	}
	_, pattern := a.mux.Handler(r)
	a.unexpected(r.Context(), pattern, fmt.Errorf("panic: %v\n%s", p, debug.Stack())).write(w)
}
