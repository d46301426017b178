// Package outbox owns the messages that wait to be sent, the recipients they go to, and the
// attempts to send them. It knows neither orders nor Telegram: packages above enqueue messages in
// their own transactions, a [Sender] carries one message to the channel and says what came of it,
// and the [Dispatcher] decides what goes when.
//
// The queue is in the database. A recipient's row carries its turn: when the next call to it may be
// tried, and for which message. One function, [Outbox.derive], computes it from the rows alone;
// every write that touches a message or a recipient marks the address, and each marked address is
// derived once before the commit. Memory holds the calls under way, the rules about the whole
// channel, and the rate limiter's windows.
//
// The files read in three parts. store_* is SQL in a transaction of the caller. rule_* are small
// machines without I/O that are given facts and the time. dispatch_* is the loop that asks the
// rules and does what they say.
package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"notifier/internal/database"
)

// AliasPrefix begins a recipient that is not an address but follows a customer: it waits until
// somebody links it to an address.
const AliasPrefix = "customer:"

// Policies for a message that the channel may have taken (NewMessage.OnUncertain).
const (
	OnUncertainResend = "resend" // one more try, when the channel has shown life again
	OnUncertainHold   = "hold"   // none: a person decides
)

// Policy holds the settings of the delivery rules.
type Policy struct {
	TTL         time.Duration // how old a message may become
	UnlinkedTTL time.Duration // the same while its customer has no address
	MaxAttempts int           // counted failures that end a message
	OnUncertain string        // for messages that do not say
}

// Outbox is the store of one channel. It holds no state of its own: all its methods work in the
// transaction that they are given.
type Outbox struct {
	channel string
	policy  Policy
}

// New returns the outbox of a channel, such as "telegram".
func New(channel string, p Policy) *Outbox { return &Outbox{channel: channel, policy: p} }

// columns are the columns of outbox in the order in which scanMessage reads them.
const columns = `id, idempotency_key, recipient, type, payload, subject, collapse_key,
	not_before, expires_at, on_uncertain, rank, created_at, state, reason, detail, address, hold,
	ready_at, ready_wait, age_from, failures, doubts, plain, remote_id, ended_at, blanked_at IS NOT NULL`

func scanMessage(row database.Row) (Message, error) {
	var m Message
	var key, subject, collapse, uncertain, reason, detail, address sql.NullString
	var notBefore, expires, remote, ended sql.NullInt64
	var created, readyAt, readyWait, ageFrom int64
	var payload []byte
	err := row.Scan(&m.ID, &key, &m.Recipient, &m.Type, &payload, &subject, &collapse,
		&notBefore, &expires, &uncertain, &m.rank, &created, &m.State, &reason, &detail, &address, &m.hold,
		&readyAt, &readyWait, &ageFrom, &m.Failures, &m.Doubts, &m.plain, &remote, &ended, &m.Erased)
	if errors.Is(err, sql.ErrNoRows) {
		return m, ErrNotFound
	}
	if err != nil {
		return m, fmt.Errorf("read a message: %w", err)
	}
	m.Key, m.Payload, m.Subject, m.CollapseKey = key.String, payload, subject.String, collapse.String
	m.NotBefore, m.ExpiresAt, m.CreatedAt = instant(notBefore), instant(expires), time.UnixMilli(created).UTC()
	m.OnUncertain, m.Reason, m.Detail = uncertain.String, reason.String, detail.String
	m.readyAt, m.readyWait = time.UnixMilli(readyAt).UTC(), time.Duration(readyWait)*time.Millisecond
	m.ageFrom, m.EndedAt, m.RemoteID = time.UnixMilli(ageFrom).UTC(), instant(ended), remote.Int64
	m.line = address.String
	if m.hold != holdNoChat && m.line != "" {
		m.Address = m.line
	}
	if m.State == StatePending && m.readyWait > 0 {
		m.RetryAt = m.readyAt
	}
	return m, nil
}

// addressOf is where a recipient's messages go: its alias's target, or itself unless it waits for one.
func addressOf(recipient, aliasOf string) string {
	switch {
	case aliasOf != "":
		return aliasOf
	case strings.HasPrefix(recipient, AliasPrefix):
		return ""
	}
	return recipient
}

// instant and millis translate between times and what is stored; zero times are NULL.
func instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// wholeMillis rounds an instant up to what can be stored: a wait must not end before its time.
func wholeMillis(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func orZero(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// latest is the latest of some times, zero without any.
func latest(times ...time.Time) time.Time {
	var l time.Time
	for _, t := range times {
		if t.After(l) {
			l = t
		}
	}
	return l
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// each runs fn for every row of a query.
func each(tx database.Tx, fn func(database.Row) error, query string, args ...any) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
