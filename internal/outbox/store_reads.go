package outbox

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"notifier/internal/database"
)

// Message returns one message, or ErrNotFound.
func (o *Outbox) Message(tx database.Tx, id int64) (Message, error) {
	return scanMessage(tx.QueryRow(`SELECT `+columns+` FROM outbox WHERE id = ? AND channel = ?`, id, o.channel))
}

// Messages lists messages, newest first.
func (o *Outbox) Messages(tx database.Tx, f Filter) ([]Message, error) {
	if f.Before <= 0 {
		f.Before = math.MaxInt64
	}
	if f.Recipient != "" {
		return o.messagesTo(tx, f)
	}
	return o.list(tx, f, "", "")
}

// list reads one page. column is what chooses the messages besides the filter: recipient or address.
func (o *Outbox) list(tx database.Tx, f Filter, column, value string) ([]Message, error) {
	if f.Reason != "" && f.State != "" && f.State != stateOf(f.Reason) {
		return nil, nil // a walk over all with this reason would find none
	}
	query := `SELECT ` + columns + ` FROM outbox WHERE channel = ? AND id < ?`
	args := []any{o.channel, f.Before}
	add := func(condition string, value any) {
		query += condition
		args = append(args, value)
	}
	switch { // the most telling column is the one whose index is walked; a plus keeps the others out
	case column != "":
		add(` AND `+column+` IS NOT NULL AND `+column+` = ?`, value)
	case f.Subject != "":
		add(` AND subject = ?`, f.Subject)
	case f.Reason != "":
		add(` AND reason = ?`, f.Reason)
	case f.State != "":
		add(stateWords(f.State)+` AND state = ?`, f.State)
	default:
		query, args = newestOfAll, []any{o.channel, f.Before, f.Limit}
	}
	if column != "" && f.Subject != "" {
		add(` AND +subject = ?`, f.Subject)
	}
	if (column != "" || f.Subject != "") && f.Reason != "" {
		add(` AND +reason = ?`, f.Reason)
	}
	if (column != "" || f.Subject != "" || f.Reason != "") && f.State != "" {
		add(` AND +state = ?`, f.State)
	}
	add(` ORDER BY id DESC LIMIT ?`, f.Limit)
	var page []Message
	err := each(tx, func(row database.Row) error {
		m, err := scanMessage(row)
		page = append(page, m)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return page, nil
}

// newestOfAll chooses by the newest ids of each state: no index has the ids of a channel as a whole, and
// the rows of other channels may be many. An order and a limit have to follow.
var newestOfAll = `SELECT ` + columns + ` FROM outbox WHERE id IN (` +
	newest(`state IN ('pending', 'sending')`) + ` UNION ALL ` +
	newest(`state = 'sent'`) + ` UNION ALL ` +
	newest(`state = 'uncertain' AND state IN ('uncertain', 'dead', 'canceled')`) + ` UNION ALL ` +
	newest(`state = 'dead' AND state IN ('uncertain', 'dead', 'canceled')`) + ` UNION ALL ` +
	newest(`state = 'canceled' AND state IN ('uncertain', 'dead', 'canceled')`) + `)`

func newest(condition string) string {
	return `SELECT id FROM (SELECT id FROM outbox WHERE channel = ?1 AND id < ?2 AND ` + condition + ` ORDER BY id DESC LIMIT ?3)`
}

// stateWords are the words of the partial index that lists a state.
func stateWords(s State) string {
	switch s {
	case StatePending:
		return ` AND state IN ('pending', 'sending')` // of which few are being sent
	case StateSending:
		return ` AND state = 'sending'`
	case StateSent:
		return ` AND state = 'sent'`
	}
	return ` AND state IN ('uncertain', 'dead', 'canceled')`
}

// messagesTo lists what was written to a recipient, and what went or goes to the address of that name.
func (o *Outbox) messagesTo(tx database.Tx, f Filter) ([]Message, error) {
	written, err := o.list(tx, f, "recipient", f.Recipient)
	if err != nil {
		return nil, err
	}
	addressed, err := o.list(tx, f, "address", f.Recipient)
	if err != nil {
		return nil, err
	}
	page := append(written, addressed...)
	slices.SortFunc(page, func(a, b Message) int { return cmp.Compare(b.ID, a.ID) })
	page = slices.CompactFunc(page, func(a, b Message) bool { return a.ID == b.ID })
	return page[:min(len(page), f.Limit)], nil
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

// OldestDue is since when the message that waits longest for its call could have gone; zero when
// none could go by then. What waits for a gate, a back-off, a link or the message before it is not due.
func (o *Outbox) OldestDue(tx database.Tx, now time.Time) (time.Time, error) {
	var oldest time.Time
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		var at sql.NullInt64
		err := tx.QueryRow(`SELECT min(turn_at) FROM notifier_recipients INDEXED BY notifier_recipients_turn
			WHERE channel = ? AND turn_rank = ? AND turn_at IS NOT NULL AND turn_at <= ?`,
			o.channel, rank, now.UnixMilli()).Scan(&at)
		if err != nil {
			return time.Time{}, fmt.Errorf("find the oldest message that is due: %w", err)
		}
		oldest = earlier(instant(at), oldest)
	}
	return oldest, nil
}

// Gates says until when the whole channel, and the recipient that has to wait longest, are gated;
// zero without a gate.
func (o *Outbox) Gates(tx database.Tx, now time.Time) (channel, recipient time.Time, err error) {
	s, err := o.sender(tx)
	if err != nil {
		return channel, recipient, err
	}
	if s.gateUntil.After(now) {
		channel = s.gateUntil
	}
	var longest sql.NullInt64
	err = tx.QueryRow(`SELECT max(gate_until) FROM notifier_recipients
		WHERE channel = ? AND gate_until IS NOT NULL AND gate_until > ?`,
		o.channel, now.UnixMilli()).Scan(&longest)
	if err != nil {
		return channel, recipient, fmt.Errorf("find the longest gate: %w", err)
	}
	return channel, instant(longest), nil
}

// pauses are the times during which a person had paused the sender, the present one included.
func (o *Outbox) pauses(tx database.Tx) (pauses, error) {
	var list pauses
	err := each(tx, func(row database.Row) error {
		var from, to sql.NullInt64
		if err := row.Scan(&from, &to); err != nil {
			return err
		}
		list = append(list, pause{instant(from), instant(to)})
		return nil
	}, `SELECT started_at, ended_at FROM notifier_pauses WHERE channel = ?1
		UNION ALL SELECT paused_at, NULL FROM notifier_senders WHERE channel = ?1 AND paused_at IS NOT NULL
		ORDER BY 1`, o.channel)
	if err != nil {
		return nil, fmt.Errorf("read the pauses: %w", err)
	}
	return list, nil
}
