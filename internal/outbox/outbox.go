// Package outbox owns the messages that wait to be sent, the recipients they go to, and the
// attempts to send them. It knows neither orders nor Telegram: rooms above enqueue messages in
// their own transactions, a [Sender] carries one message to the channel and says what came of it,
// and the [Dispatcher] decides what goes when.
//
// The package reads in three parts. The store – outbox.go, enqueue.go, reads.go, actions.go,
// bulk.go, recipients.go, life.go, sender_state.go, explain.go, erase.go – is plain SQL in a
// transaction of the caller; purge.go works through it in steps. The rules – judge.go, backoff.go,
// canary.go, breaker.go, guard.go, expiry.go, clock.go – are small machines without I/O that are
// given facts and the time. The dispatcher – dispatcher.go, then load.go, start.go, decide.go,
// record.go, probes.go, expire.go, status.go, with its memory in queues.go – asks the rules and
// does what they say.
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
const columns = `m.id, m.idempotency_key, m.recipient, m.type, m.payload, m.subject, m.collapse_key,
	m.not_before, m.expires_at, m.on_uncertain, m.created_at, m.state, m.reason, m.detail,
	m.failures, m.doubts, m.plain, m.retry_at, m.retry_wait, m.age_from, m.remote_id, m.sent_to, m.ended_at, m.blanked_at IS NOT NULL,
	r.alias_of`

// withAlias is where columns come from.
const withAlias = ` FROM outbox m LEFT JOIN notifier_recipients r
	ON r.channel = m.channel AND r.address = m.recipient `

func scanMessage(row database.Row) (Message, error) {
	var m Message
	var key, subject, collapse, uncertain, reason, detail, sentTo, alias sql.NullString
	var notBefore, expires, created, retryAt, retryWait, ageFrom, remote, ended sql.NullInt64
	var payload []byte
	err := row.Scan(&m.ID, &key, &m.Recipient, &m.Type, &payload, &subject, &collapse,
		&notBefore, &expires, &uncertain, &created, &m.State, &reason, &detail,
		&m.Failures, &m.Doubts, &m.plain, &retryAt, &retryWait, &ageFrom, &remote, &sentTo, &ended, &m.Erased, &alias)
	if errors.Is(err, sql.ErrNoRows) {
		return m, ErrNotFound
	}
	if err != nil {
		return m, fmt.Errorf("read a message: %w", err)
	}
	m.Key, m.Payload, m.Subject, m.CollapseKey = key.String, payload, subject.String, collapse.String
	m.NotBefore, m.ExpiresAt, m.CreatedAt = instant(notBefore), instant(expires), instant(created)
	m.OnUncertain, m.Reason, m.Detail = uncertain.String, reason.String, detail.String
	m.RetryAt, m.ageFrom, m.EndedAt = instant(retryAt), instant(ageFrom), instant(ended)
	m.RemoteID = remote.Int64
	m.retryWait = time.Duration(retryWait.Int64) * time.Millisecond
	m.Address = addressOf(m.Recipient, alias.String)
	if sentTo.Valid {
		m.Address = sentTo.String
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

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
