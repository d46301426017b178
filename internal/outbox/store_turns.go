package outbox

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// turn is when the next call to an address may be tried, for which message, and that one's rank. Zero: nothing
// can go by itself, or a call is under way.
type turn struct {
	head int64
	rank int
	at   time.Time
}

// derived is what derive reads.
type derived struct {
	exists bool // the recipient has a row
	stored turn
	turn   turn
}

// derive computes the turn of an address from the rows alone; it knows no clock. An address has
// none while a message to it is being sent, while an attempt to it is open, while work in slices
// concerns it, when it is an alias, and when it is dead (a chat that asked us to stop still gets
// replies). Otherwise its head is the first message in line, by rank and id, and its turn comes when
// the head is ready and the recipient's gate, doubt and pace are over.
func (o *Outbox) derive(tx database.Tx, address string) (derived, error) {
	var d derived
	var alias, state, reason sql.NullString
	var gate, doubt, pace, at, rank, head, id, headRank, ready sql.NullInt64
	var busy bool
	err := tx.QueryRow(`SELECT r.alias_of, r.state, r.reason, r.gate_until, r.doubt_until, r.pace_until,
			r.turn_at, r.turn_rank, r.head, h.id, h.rank, h.ready_at,
			EXISTS (SELECT 1 FROM outbox WHERE channel = ?1 AND address = ?2 AND state = 'sending')
			OR EXISTS (SELECT 1 FROM notifier_attempts WHERE channel = ?1 AND address = ?2 AND result = 'open')
			OR EXISTS (SELECT 1 FROM notifier_tasks WHERE channel = ?1 AND address = ?2)
			OR EXISTS (SELECT 1 FROM notifier_tasks WHERE channel = ?1 AND target = ?2)
		FROM (SELECT 1) LEFT JOIN notifier_recipients r ON r.channel = ?1 AND r.address = ?2
		LEFT JOIN outbox h ON h.id = (SELECT id FROM outbox WHERE channel = ?1 AND address = ?2
			AND state = 'pending' AND address IS NOT NULL AND hold = 0 ORDER BY rank, id LIMIT 1)`,
		o.channel, address).Scan(&alias, &state, &reason, &gate, &doubt, &pace, &at, &rank, &head,
		&id, &headRank, &ready, &busy)
	if err != nil {
		return d, fmt.Errorf("derive the turn of %s: %w", address, err)
	}
	d.exists = state.Valid
	if at.Valid {
		d.stored = turn{head: head.Int64, rank: int(rank.Int64), at: instant(at)}
	}
	switch {
	case busy, alias.Valid, !id.Valid:
		return d, nil
	case state.String == string(RecipientDead) && (reason.String != RecipientStopped || headRank.Int64 != rankReply):
		return d, nil
	}
	ms := max(ready.Int64, gate.Int64, doubt.Int64, pace.Int64)
	d.turn = turn{head: id.Int64, rank: int(headRank.Int64), at: time.UnixMilli(ms).UTC()}
	return d, nil
}

// settle derives the turn of an address and stores it where it has changed. It says whether it had.
func (o *Outbox) settle(tx database.Tx, address string) (bool, error) {
	d, err := o.derive(tx, address)
	if err != nil || d.turn == d.stored {
		return false, err
	}
	var at, rank, head any
	if d.turn.head != 0 {
		at, rank, head = d.turn.at.UnixMilli(), d.turn.rank, d.turn.head
	}
	if d.exists {
		_, err = tx.Exec(`UPDATE notifier_recipients SET turn_at = ?, turn_rank = ?, head = ?
			WHERE channel = ? AND address = ?`, at, rank, head, o.channel, address)
	} else {
		_, err = tx.Exec(`INSERT INTO notifier_recipients (channel, address, turn_at, turn_rank, head)
			VALUES (?, ?, ?, ?, ?)`, o.channel, address, at, rank, head)
		o.count(tx, chatCount(RecipientOpen), 1)
	}
	if err != nil {
		return false, fmt.Errorf("store the turn of %s: %w", address, err)
	}
	return true, nil
}

// marks are the addresses that a transaction has touched, and what it has changed in the counts.
// Before its commit each address's turn is derived once, after everything else.
type marks struct {
	o      *Outbox
	order  []string
	dirty  map[string]bool
	counts map[counted]int64
}

// marksKey tells the marks of one channel from those of another.
type marksKey string

func (o *Outbox) marks(tx database.Tx) *marks {
	f := tx.Attach(marksKey(o.channel), func() database.Finisher {
		return &marks{o: o, dirty: map[string]bool{}, counts: map[counted]int64{}}
	})
	return f.(*marks) //nolint:forcetypeassert // only marks are attached under this key
}

// touch marks an address whose messages or state have changed: its turn is derived anew before the
// commit. Whoever changes one calls it, and nobody computes a turn by hand.
func (o *Outbox) touch(tx database.Tx, addresses ...string) {
	m := o.marks(tx)
	for _, a := range addresses {
		if a != "" && !m.dirty[a] {
			m.dirty[a] = true
			m.order = append(m.order, a)
		}
	}
}

// settleAll derives the turns of all addresses that were touched so far.
func (o *Outbox) settleAll(tx database.Tx) error {
	m := o.marks(tx)
	order := m.order
	m.order, m.dirty = nil, map[string]bool{}
	for _, address := range order {
		if _, err := o.settle(tx, address); err != nil {
			return err
		}
	}
	return nil
}

// Finish implements database.Finisher.
func (m *marks) Finish(tx database.Tx) error {
	if err := m.o.settleAll(tx); err != nil {
		return err
	}
	return m.storeCounts(tx)
}

// root is the address under which what waits for a recipient stands: its alias's target, or itself.
func (o *Outbox) root(tx database.Tx, recipient string) (string, error) {
	var alias sql.NullString
	err := tx.QueryRow(`SELECT alias_of FROM notifier_recipients WHERE channel = ? AND address = ?`,
		o.channel, recipient).Scan(&alias)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("resolve recipient %s: %w", recipient, err)
	}
	if alias.Valid {
		return alias.String, nil
	}
	return recipient, nil
}

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
