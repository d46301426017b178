// Package idempotency owns the table of Idempotency-Keys: which request came first under a key,
// and what the response was.
//
// It works inside the transaction of its caller (httpapi), so that a key is stored together with
// what its request did. Writes run one after another, and so a request that arrives while the
// first one is under way waits for it and then finds its response. How long keys are kept is
// decided by whoever purges.
package idempotency

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Response is what a request was answered with. Only successes are kept.
type Response struct {
	Status   int
	Location string
	Body     []byte
}

// ErrReused says that the key came with another request before.
var ErrReused = errors.New("this Idempotency-Key came with another body before: use a new key for a new request")

// Once runs fn when key is new in scope, and keeps its response. When the key came before with the
// same hash it returns that first response, and replayed is true; with another hash, ErrReused. An
// error of fn is returned as it is and nothing is kept.
func Once(tx database.Tx, now time.Time, scope, key string, hash [HashSize]byte, fn func() (Response, error)) (a Response, replayed bool, err error) {
	first, known, err := lookUp(tx, scope, key, hash)
	if err != nil || known {
		return first, known, err
	}
	a, err = fn()
	if err != nil {
		return Response{}, false, err
	}
	_, err = tx.Exec(`INSERT INTO notifier_keys (scope, key, hash, status, location, body, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		scope, key, hash[:], a.Status, a.Location, string(a.Body), now.UnixMilli())
	if err != nil {
		return Response{}, false, fmt.Errorf("store idempotency key %q of %s: %w", key, scope, err)
	}
	return a, false, nil
}

func lookUp(tx database.Tx, scope, key string, hash [HashSize]byte) (Response, bool, error) {
	var (
		a      Response
		stored []byte
		body   string
	)
	err := tx.QueryRow("SELECT hash, status, location, body FROM notifier_keys WHERE scope = ? AND key = ?", scope, key).
		Scan(&stored, &a.Status, &a.Location, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Response{}, false, nil
	case err != nil:
		return Response{}, false, fmt.Errorf("look up idempotency key %q of %s: %w", key, scope, err)
	case !bytes.Equal(stored, hash[:]):
		return Response{}, false, ErrReused
	}
	a.Body = []byte(body)
	return a, true, nil
}

// Try stores a key and removes it again. Whoever wants to know whether requests can be committed
// at present writes this and sees.
func Try(tx database.Tx, now time.Time) error {
	const scope = "try" // no request has it: theirs begin with a method
	_, err := tx.Exec(`INSERT INTO notifier_keys (scope, key, hash, status, body, created_at) VALUES (?, '', x'', 0, '', ?)
		ON CONFLICT (scope, key) DO NOTHING`, scope, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("try to store a key: %w", err)
	}
	if _, err := tx.Exec("DELETE FROM notifier_keys WHERE scope = ? AND key = ''", scope); err != nil {
		return fmt.Errorf("try to remove a key: %w", err)
	}
	return nil
}
