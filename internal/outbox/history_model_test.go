package outbox

import (
	"context"
	"database/sql"

	"notifier/internal/database"
)

// modelMessage, modelRecipient and modelTask are rows as the model reads them: all of them, without
// an index in mind.
type modelMessage struct {
	id                   int64
	recipient, address   string
	state                State
	reason               string
	hold, rank, failures int
	readyAt              int64
	expires              sql.NullInt64
	arrival, erased      bool
}

type modelRecipient struct {
	alias                     string
	state                     RecipientState
	reason                    string
	since                     int64
	gate, doubt, pace         int64
	turnAt, turnRank, head    int64
	acceptedBefore, hasARow   bool
	waits                     []modelMessage // that are in line for it
	sending, attempting, busy bool
}

// model is the whole state, read in one transaction.
type model struct {
	messages   []modelMessage
	recipients map[string]*modelRecipient
	tasks      []string
	counts     map[string]int64 // as stored
	real       map[string]int64 // as counted
	guard      int64
	status     string
	gate       int64
}

func (m *model) recipient(address string) *modelRecipient {
	r := m.recipients[address]
	if r == nil {
		r = &modelRecipient{state: RecipientOpen, turnAt: -1}
		m.recipients[address] = r
	}
	return r
}

func (h *history) read() *model {
	m := &model{recipients: map[string]*modelRecipient{}, counts: map[string]int64{}, real: map[string]int64{}}
	h.must(h.other.Read(context.Background(), func(tx database.Tx) error {
		for _, part := range []func(database.Tx) error{m.readRecipients, m.readMessages, m.readRest} {
			if err := part(tx); err != nil {
				return err
			}
		}
		return nil
	}))
	return m
}

func (m *model) readRecipients(tx database.Tx) error {
	return each(tx, func(row database.Row) error {
		var address string
		var r modelRecipient
		var at sql.NullInt64
		err := row.Scan(&address, &r.alias, &r.state, &r.reason, &r.since, &r.gate, &r.doubt, &r.pace, &at, &r.turnRank, &r.head, &r.acceptedBefore)
		r.hasARow, r.turnAt = true, -1
		if at.Valid {
			r.turnAt = at.Int64
		}
		m.recipients[address] = &r
		if r.alias == "" {
			m.real["chat "+string(r.state)+" "]++
		}
		return err
	}, `SELECT address, coalesce(alias_of, ''), state, coalesce(reason, ''), coalesce(since, 0), coalesce(gate_until, 0),
			coalesce(doubt_until, 0), coalesce(pace_until, 0), turn_at, coalesce(turn_rank, 0), coalesce(head, 0), accepted_by IS NOT NULL
		FROM notifier_recipients NOT INDEXED WHERE channel = 'telegram'`)
}

func (m *model) readMessages(tx database.Tx) error {
	err := each(tx, func(row database.Row) error {
		var x modelMessage
		err := row.Scan(&x.id, &x.recipient, &x.address, &x.state, &x.reason, &x.hold, &x.rank, &x.readyAt, &x.failures, &x.arrival, &x.erased, &x.expires)
		m.messages = append(m.messages, x)
		if x.arrival || err != nil {
			return err
		}
		r := m.recipient(x.address)
		switch {
		case x.state == StateSending:
			r.sending = true
		case x.hold == 0:
			r.waits = append(r.waits, x)
		}
		return nil
	}, `SELECT id, CAST(recipient AS TEXT), coalesce(address, ''), state, coalesce(reason, ''), CAST(hold AS INTEGER), CAST(coalesce(rank, 1) AS INTEGER), CAST(ready_at AS INTEGER),
			CAST(failures AS INTEGER), address IS NULL,
			blanked_at IS NOT NULL, CAST(expires_at AS INTEGER)
		FROM outbox NOT INDEXED WHERE channel = 'telegram' AND +state IN ('pending', 'sending') ORDER BY +id`)
	if err != nil {
		return err
	}
	return each(tx, func(row database.Row) error {
		var key string
		var n int64
		err := row.Scan(&key, &n)
		m.real[key] = n
		return err
	}, `SELECT 'message ' || state || ' ' || coalesce(reason, ''), count(*) FROM outbox NOT INDEXED
		WHERE channel = 'telegram' AND address IS NOT NULL GROUP BY 1`)
}

func (m *model) readRest(tx database.Tx) error {
	err := each(tx, func(row database.Row) error {
		var key string
		var n int64
		err := row.Scan(&key, &n)
		m.counts[key] = n
		return err
	}, `SELECT kind || ' ' || state || ' ' || reason, n FROM notifier_counts WHERE channel = 'telegram' AND n <> 0`)
	if err != nil {
		return err
	}
	err = each(tx, func(row database.Row) error {
		var address string
		err := row.Scan(&address)
		m.recipient(address).attempting = true
		return err
	}, `SELECT address FROM notifier_attempts NOT INDEXED WHERE channel = 'telegram' AND result = 'open'`)
	if err != nil {
		return err
	}
	err = each(tx, func(row database.Row) error {
		var kind, address, target string
		err := row.Scan(&kind, &address, &target)
		m.tasks = append(m.tasks, kind+" "+address+" "+target)
		for _, a := range []string{address, target} {
			if a != "" {
				m.recipient(a).busy = true
			}
		}
		return err
	}, `SELECT kind, coalesce(address, ''), coalesce(target, '') FROM notifier_tasks NOT INDEXED WHERE channel = 'telegram'`)
	if err != nil {
		return err
	}
	return tx.QueryRow(`SELECT coalesce(max(guard_since), 0), coalesce(max(state), 'running'), coalesce(max(gate_until), 0)
		FROM notifier_senders WHERE channel = 'telegram'`).Scan(&m.guard, &m.status, &m.gate)
}

// turn is the turn of an address by the rules: -1 without one.
func (r *modelRecipient) turn() (at, rank, head int64) {
	if r.sending || r.attempting || r.busy || r.alias != "" {
		return -1, 0, 0
	}
	var first *modelMessage
	for i, x := range r.waits {
		if first == nil || x.rank < first.rank || x.rank == first.rank && x.id < first.id {
			first = &r.waits[i]
		}
	}
	if first == nil {
		return -1, 0, 0
	}
	if r.state == RecipientDead && !(r.reason == RecipientStopped && first.rank == rankReply) {
		return -1, 0, 0
	}
	at = first.readyAt
	for _, until := range []int64{r.gate, r.doubt, r.pace} {
		if until > at {
			at = until
		}
	}
	return at, int64(first.rank), first.id
}
