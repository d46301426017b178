package outbox

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Enqueue stores a message in the caller's transaction: it exists if and only if that commits.
// A message for a dead recipient is stored as ended at once. When the key is known already, the
// message that has it is returned and nothing is stored.
func (o *Outbox) Enqueue(tx database.Tx, now time.Time, n NewMessage) (Message, error) {
	return o.enqueue(tx, now, n, rankMessage)
}

func (o *Outbox) enqueue(tx database.Tx, now time.Time, n NewMessage, rank int) (Message, error) {
	payload, err := json.Marshal(n.Payload)
	if err != nil {
		return Message{}, fmt.Errorf("enqueue a message: marshal its payload: %w", err)
	}
	if n.Key != "" {
		m, err := o.byKey(tx, n.Key)
		if !errors.Is(err, ErrNotFound) {
			return m, err
		}
	}
	r, err := o.Recipient(tx, n.Recipient)
	if err != nil {
		return Message{}, fmt.Errorf("enqueue a message: %w", err)
	}
	now = now.UTC().Truncate(time.Millisecond)
	m := Message{
		Key: n.Key, Recipient: n.Recipient, Type: n.Type, Payload: payload, Subject: n.Subject,
		CollapseKey: n.CollapseKey, NotBefore: n.NotBefore, ExpiresAt: n.ExpiresAt,
		OnUncertain: n.OnUncertain, CreatedAt: now, State: StatePending, rank: rank,
	}
	m.place(r, now)
	err = tx.QueryRow(`INSERT INTO outbox (idempotency_key, recipient, type, payload, channel, subject,
			collapse_key, not_before, expires_at, on_uncertain, rank, created_at, state, reason, ended_at,
			address, hold, ready_at, age_from)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		orNull(m.Key), m.Recipient, m.Type, string(payload), o.channel, orNull(m.Subject),
		orNull(m.CollapseKey), millis(m.NotBefore), millis(m.ExpiresAt), orNull(m.OnUncertain), m.rank,
		now.UnixMilli(), m.State, orNull(m.Reason), millis(m.EndedAt), m.line, m.hold,
		m.readyAt.UnixMilli(), m.ageFrom.UnixMilli()).Scan(&m.ID)
	if err != nil {
		return Message{}, fmt.Errorf("enqueue a message: %w", err)
	}
	o.count(tx, messageCount(m.State, m.Reason), 1)
	o.joined(tx, m, r)
	return m, nil
}

// byKey is the message with an idempotency key.
func (o *Outbox) byKey(tx database.Tx, key string) (Message, error) {
	m, err := scanMessage(tx.QueryRow(`SELECT `+columns+` FROM outbox WHERE idempotency_key = ?`, key))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return m, fmt.Errorf("look for an idempotency key: %w", err)
	}
	return m, err
}

// place says where a new message stands: in the line of its recipient, planned, without a chat, or
// at its end at once when the recipient is dead.
func (m *Message) place(r Recipient, now time.Time) {
	m.line, m.hold, m.readyAt, m.readyWait = r.Address, holdNone, now, 0
	m.ageFrom = latest(earlier(m.CreatedAt, now), m.NotBefore)
	switch {
	case addressOf(r.Address, "") == "":
		m.hold = holdNoChat
	case m.NotBefore.After(now):
		m.hold, m.readyAt = holdPlanned, m.NotBefore
	}
	if m.hold != holdNoChat {
		m.Address = m.line
	}
	if !r.hears(m.rank) {
		m.State, m.Reason = r.fate()
		m.EndedAt = now
	}
}

// joined touches the address of a new message, unless its turn is for an earlier message and stays
// as it is.
func (o *Outbox) joined(tx database.Tx, m Message, r Recipient) {
	behind := r.turn.head != 0 && r.turn.head < m.ID && r.turn.rank <= m.rank
	if m.State == StatePending && m.hold == holdNone && !behind {
		o.touch(tx, m.line)
	}
}

// takeIn takes in the next slice of the rows that other programs have inserted, and returns how many
// that were and whether there are more: each gets its address, its place there, and its end if it
// cannot be read or its recipient is dead.
func (o *Outbox) takeIn(tx database.Tx, now time.Time) (int, bool, error) {
	var ids []int64
	err := each(tx, func(row database.Row) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM outbox INDEXED BY outbox_arrivals WHERE channel = ? AND address IS NULL ORDER BY id LIMIT ?`,
		o.channel, mostRows)
	if err != nil {
		return 0, false, fmt.Errorf("look for new rows: %w", err)
	}
	s := newSlice()
	for i, id := range ids {
		if !s.more() {
			return i, true, nil
		}
		if err := o.takeInOne(tx, now, id); err != nil {
			return 0, false, fmt.Errorf("take in message %d: %w", id, err)
		}
	}
	return len(ids), len(ids) == mostRows, nil
}

// takeInBefore takes in the first row that another program has inserted before m, for the same
// address by whatever name, and says whether there was one.
func (o *Outbox) takeInBefore(tx database.Tx, now time.Time, m Message) (bool, error) {
	names := []string{m.line}
	err := each(tx, func(row database.Row) error {
		var alias string
		err := row.Scan(&alias)
		names = append(names, alias)
		return err
	}, `SELECT address FROM notifier_recipients WHERE channel = ? AND alias_of IS NOT NULL AND alias_of = ?`, o.channel, m.line)
	if err != nil {
		return false, fmt.Errorf("look who stands for %s: %w", m.line, err)
	}
	for _, name := range names {
		var id int64
		err := tx.QueryRow(`SELECT id FROM outbox INDEXED BY outbox_arrivals_recipient WHERE channel = ? AND recipient = ?
			AND address IS NULL AND id < ? ORDER BY id LIMIT 1`, o.channel, name, m.ID).Scan(&id)
		if isNoRows(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("look for rows before message %d: %w", m.ID, err)
		}
		return true, o.takeInOne(tx, now, id)
	}
	return false, nil
}

func (o *Outbox) takeInOne(tx database.Tx, now time.Time, id int64) error {
	m, err := o.Message(tx, id)
	if err != nil {
		return o.rejectUnreadable(tx, now, id, err)
	}
	r, err := o.Recipient(tx, m.Recipient)
	if err != nil {
		return err
	}
	m.rank = max(m.rank, rankMessage)                            // a reply is ours alone
	m.State, m.Reason, m.EndedAt = StatePending, "", time.Time{} // whatever it claims: nobody has sent it
	m.place(r, now.UTC().Truncate(time.Millisecond))
	if m.Doubts > 0 && m.State == StateDead { // of a lifted database: the channel may have it
		m.State, m.Reason = StateUncertain, ""
	}
	// What is set to itself lets its CHECK look at it, should a program have switched that off.
	_, err = tx.Exec(`UPDATE outbox SET recipient = recipient, type = type, not_before = not_before, expires_at = expires_at,
			created_at = created_at, on_uncertain = on_uncertain,
			address = ?, hold = ?, rank = ?, ready_at = ?, ready_wait = 0, age_from = ?,
			remote_id = NULL, blanked_at = NULL,
			state = ?, reason = ?, ended_at = ? WHERE id = ?`,
		m.line, m.hold, m.rank, m.readyAt.UnixMilli(), m.ageFrom.UnixMilli(), m.State, orNull(m.Reason), millis(m.EndedAt), id)
	if database.Refused(err) { // by a value that can be read and is out of its bounds
		return o.rejectUnreadable(tx, now, id, err)
	}
	if err != nil {
		return err
	}
	o.count(tx, messageCount(m.State, m.Reason), 1)
	o.joined(tx, m, r)
	return nil
}

// unreadable takes the place of a recipient that no CHECK takes, so that a retry finds nobody rather
// than failing.
const (
	unreadable  = AliasPrefix + "unreadable"
	addressable = `typeof(recipient) = 'text' AND length(recipient) BETWEEN 1 AND 209 AND instr(recipient, char(0)) = 0`
)

// rejectUnreadable ends a row that cannot be read, alone: its trouble is nobody else's. CHECKs keep
// such rows out, unless a program has switched them off.
func (o *Outbox) rejectUnreadable(tx database.Tx, now time.Time, id int64, cause error) error {
	var address, state, reason sql.NullString
	err := tx.QueryRow(`SELECT CAST(address AS TEXT), CAST(state AS TEXT), CAST(reason AS TEXT) FROM outbox WHERE id = ?`, id).
		Scan(&address, &state, &reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reject message %d: %w", id, err)
	}
	_, err = tx.Exec(`UPDATE outbox SET state = 'dead', reason = 'rejected', detail = ?, ended_at = ?,
			address = coalesce(CAST(address AS TEXT), CASE WHEN `+addressable+` THEN recipient ELSE '`+unreadable+`' END),
			hold = 0, rank = 1,
			not_before = NULL, expires_at = NULL, created_at = ?, ready_at = 0, ready_wait = 0, age_from = 0,
			failures = 0, doubts = 0, plain = 0, remote_id = NULL, blanked_at = NULL,
			on_uncertain = NULL WHERE id = ?`,
		shorten("the row cannot be read: "+cause.Error()), now.UnixMilli(), now.UnixMilli(), id)
	if err == nil {
		_, err = tx.Exec(`UPDATE outbox SET recipient = ? WHERE id = ? AND NOT (`+addressable+`)`, unreadable, id)
	}
	if err != nil {
		return fmt.Errorf("reject message %d: %w", id, err)
	}
	if address.Valid {
		o.count(tx, messageCount(State(state.String), reason.String), -1)
		o.touch(tx, address.String)
	}
	o.count(tx, messageCount(StateDead, ReasonRejected), 1)
	return nil
}

// detailLimit is how many bytes of a detail are stored.
const detailLimit = 500

func shorten(s string) string {
	if len(s) > detailLimit {
		return s[:detailLimit]
	}
	return s
}

// ReplyPrefix begins the subject of a reply to what its recipient has just written. Replies have a
// rank of their own: they go before other messages, and also to a recipient that has asked us to
// stop. In all else they are messages like any other.
const ReplyPrefix = "answer:"

// NewReply is what Answer stores.
type NewReply struct {
	Address string
	// Kind is what is answered. Of the replies of one kind to one recipient only the newest waits.
	Kind    string
	Type    string
	Payload any // marshals to a JSON object
	// Every: none when one of this kind was stored less than so long ago; 0: always.
	Every time.Duration
}

// EnqueueReply stores the reply to what a recipient has just written, in the transaction that also
// stores that it was read. An older one of the same kind that still waits ends as superseded: who
// asks ten times gets one reply, the latest.
func (o *Outbox) EnqueueReply(tx database.Tx, now time.Time, a NewReply) error {
	root, err := o.root(tx, a.Address)
	if err != nil {
		return fmt.Errorf("reply to %s: %w", a.Address, err)
	}
	subject := ReplyPrefix + a.Kind + ":" + root
	before, err := o.lastReply(tx, subject)
	found := !errors.Is(err, ErrNotFound)
	if err != nil && found {
		return err
	}
	if found {
		age := now.Sub(before.CreatedAt) // negative: left over from a clock that was wrong
		if a.Every > 0 && age >= 0 && age < a.Every {
			return nil
		}
		if before.State == StatePending {
			if err := o.finish(tx, before, ending{StateCanceled, ReasonSuperseded, "", now}); err != nil {
				return err
			}
		}
	}
	_, err = o.enqueue(tx, now, NewMessage{Recipient: root, Type: a.Type, Payload: a.Payload, Subject: subject}, rankReply)
	return err
}

// lastReply is the newest reply with a subject.
func (o *Outbox) lastReply(tx database.Tx, subject string) (Message, error) {
	m, err := scanMessage(tx.QueryRow(`SELECT `+columns+` FROM outbox WHERE channel = ? AND subject = ?
		ORDER BY id DESC LIMIT 1`, o.channel, subject))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return m, fmt.Errorf("look for the last reply: %w", err)
	}
	return m, err
}
