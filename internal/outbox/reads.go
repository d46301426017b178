package outbox

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"notifier/internal/database"
)

// Message returns one message, or ErrNotFound.
func (o *Outbox) Message(tx database.Tx, id int64) (Message, error) {
	return scanMessage(tx.QueryRow(`SELECT `+columns+withAlias+`WHERE m.id = ? AND m.channel = ?`, id, o.channel))
}

// Messages lists messages, newest first.
func (o *Outbox) Messages(tx database.Tx, f Filter) ([]Message, error) {
	where := []string{"m.channel = ?"}
	args := []any{o.channel}
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if f.State != "" {
		add("m.state = ?", f.State)
	}
	if f.Reason != "" {
		add("m.reason = ?", f.Reason)
	}
	if f.Subject != "" {
		add("m.subject = ?", f.Subject)
	}
	if f.Recipient != "" {
		add(`(m.recipient = ? OR m.sent_to = ? OR m.recipient IN
			(SELECT address FROM notifier_recipients WHERE channel = ? AND alias_of = ?))`,
			f.Recipient, f.Recipient, o.channel, f.Recipient)
	}
	if f.Before > 0 {
		add("m.id < ?", f.Before)
	}
	args = append(args, f.Limit)
	rows, err := tx.Query(`SELECT `+columns+withAlias+`WHERE `+strings.Join(where, " AND ")+
		` ORDER BY m.id DESC LIMIT ?`, args...)
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	var list []Message
	for rows.Next() {
		m, err := scanMessage(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, rows.Err()
}

// Attempts lists the calls that were made for a message, oldest first.
func (o *Outbox) Attempts(tx database.Tx, id int64) ([]Attempt, error) {
	rows, err := tx.Query(`SELECT id, message_id, address, started_at, ended_at, result, counted, detail
		FROM notifier_attempts WHERE message_id = ? ORDER BY id`, id)
	if err != nil {
		return nil, fmt.Errorf("list the attempts of message %d: %w", id, err)
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	var list []Attempt
	for rows.Next() {
		a, err := scanAttempt(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

func scanAttempt(row database.Row) (Attempt, error) {
	var a Attempt
	var started, ended sql.NullInt64
	var detail sql.NullString
	err := row.Scan(&a.ID, &a.MessageID, &a.Address, &started, &ended, &a.Result, &a.Counted, &detail)
	if err != nil {
		return a, fmt.Errorf("read an attempt: %w", err)
	}
	a.StartedAt, a.EndedAt, a.Detail = instant(started), instant(ended), detail.String
	return a, nil
}

// Counts is how much of what there is, for metrics.
type Counts struct {
	Messages   map[StateReason]int64
	Recipients map[RecipientState]int64
}

// StateReason is a state with the reason it has, if any.
type StateReason struct {
	State  State
	Reason string
}

// Counts counts messages and recipients. It reads whole indexes: ask it once per scrape.
func (o *Outbox) Counts(tx database.Tx) (Counts, error) {
	c := Counts{Messages: map[StateReason]int64{}, Recipients: map[RecipientState]int64{}}
	err := each(tx, func(row database.Row) error {
		var s State
		var reason sql.NullString
		var n int64
		if err := row.Scan(&s, &reason, &n); err != nil {
			return err
		}
		c.Messages[StateReason{s, reason.String}] += n
		return nil
	}, `SELECT state, reason, count(*) FROM outbox WHERE channel = ? GROUP BY state, reason`, o.channel)
	if err != nil {
		return c, fmt.Errorf("count messages: %w", err)
	}
	err = each(tx, func(row database.Row) error {
		var s RecipientState
		var n int64
		if err := row.Scan(&s, &n); err != nil {
			return err
		}
		c.Recipients[s] += n
		return nil
	}, `SELECT state, count(*) FROM notifier_recipients WHERE channel = ? AND alias_of IS NULL
		GROUP BY state`, o.channel)
	if err != nil {
		return c, fmt.Errorf("count recipients: %w", err)
	}
	return c, nil
}

// OldestDue is since when the oldest message that could go now has been due; zero without one.
// What waits for a gate, a back-off, a link, a pause or the message before it is not due.
func (o *Outbox) OldestDue(tx database.Tx, now time.Time) (time.Time, error) {
	var due sql.NullInt64
	err := tx.QueryRow(`SELECT min(max(m.created_at, coalesce(m.not_before, 0), coalesce(m.retry_at, 0),
			coalesce(m.age_from, 0), coalesce(r.gate_until, 0), coalesce(r.doubt_until, 0)))
		FROM (SELECT min(w.id) AS id, coalesce(a.alias_of, w.recipient) AS address
			FROM outbox w LEFT JOIN notifier_recipients a ON a.channel = w.channel AND a.address = w.recipient
			WHERE w.channel = ?1 AND w.state IN ('pending', 'sending')
				AND (a.alias_of IS NOT NULL OR substr(w.recipient, 1, 9) <> 'customer:')
				AND coalesce(w.not_before, 0) <= ?2
			GROUP BY 2) head
		JOIN outbox m ON m.id = head.id
		LEFT JOIN notifier_recipients r ON r.channel = m.channel AND r.address = head.address
		WHERE m.state = 'pending' AND coalesce(m.retry_at, 0) <= ?2 AND coalesce(r.gate_until, 0) <= ?2
			AND coalesce(r.doubt_until, 0) <= ?2`, o.channel, now.UnixMilli()).Scan(&due)
	if err != nil {
		return time.Time{}, fmt.Errorf("find the oldest message that is due: %w", err)
	}
	return instant(due), nil
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
