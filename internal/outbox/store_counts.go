package outbox

import (
	"database/sql"
	"errors"
	"fmt"

	"notifier/internal/database"
)

// How many messages and chats there are is asked often and costs a walk over the table, so it is
// kept: each transaction notes what it changes, and stores the sums before its commit.

// counted is one number of the table of counts.
type counted struct{ kind, state, reason string }

func messageCount(s State, reason string) counted { return counted{"message", string(s), reason} }

func chatCount(s RecipientState) counted { return counted{kind: "chat", state: string(s)} }

// count notes that there are n more of something.
func (o *Outbox) count(tx database.Tx, c counted, n int64) { o.marks(tx).counts[c] += n }

// countMove notes that a message has gone from one state to another.
func (o *Outbox) countMove(tx database.Tx, m Message, s State, reason string) {
	if m.line != "" { // else it has not been taken in, and counts nowhere yet
		o.count(tx, messageCount(m.State, m.Reason), -1)
	}
	o.count(tx, messageCount(s, reason), 1)
}

// storeCounts adds what was noted.
func (m *marks) storeCounts(tx database.Tx) error {
	for c, n := range m.counts {
		if n == 0 {
			continue
		}
		_, err := tx.Exec(`INSERT INTO notifier_counts (channel, kind, state, reason, n) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (channel, kind, state, reason) DO UPDATE SET n = n + excluded.n`,
			m.o.channel, c.kind, c.state, c.reason, n)
		if err != nil {
			return fmt.Errorf("store the counts: %w", err)
		}
	}
	clear(m.counts)
	return nil
}

// Counts is how much of what there is.
type Counts struct {
	Messages   map[StateReason]int64
	Recipients map[RecipientState]int64
}

// StateReason is a state with the reason it has, if any.
type StateReason struct {
	State  State
	Reason string
}

// Counts says how many messages and recipients there are in each state.
func (o *Outbox) Counts(tx database.Tx) (Counts, error) {
	c := Counts{Messages: map[StateReason]int64{}, Recipients: map[RecipientState]int64{}}
	err := each(tx, func(row database.Row) error {
		var kind, state, reason string
		var n int64
		if err := row.Scan(&kind, &state, &reason, &n); err != nil {
			return err
		}
		if kind == "message" {
			c.Messages[StateReason{State(state), reason}] = n
		} else {
			c.Recipients[RecipientState(state)] = n
		}
		return nil
	}, `SELECT kind, state, reason, n FROM notifier_counts WHERE channel = ? AND n <> 0`, o.channel)
	if err != nil {
		return c, fmt.Errorf("read the counts: %w", err)
	}
	return c, nil
}

// waiting is how many messages have not ended.
func (o *Outbox) waiting(tx database.Tx) (int, error) {
	var n sql.NullInt64
	err := tx.QueryRow(`SELECT sum(n) FROM notifier_counts
		WHERE channel = ? AND kind = 'message' AND state IN ('pending', 'sending')`, o.channel).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("count what waits: %w", err)
	}
	return int(n.Int64), nil
}
