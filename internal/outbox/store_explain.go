package outbox

import (
	"database/sql"
	"fmt"
	"time"

	"notifier/internal/database"
)

// Explanation says why a message has not been sent, or what became of it.
type Explanation struct {
	Message Message
	Code    string    // one of the Waits constants
	Text    string    // one or two sentences for people
	Until   time.Time // when it will move by itself, if that is known
}

// Codes of an Explanation.
const (
	WaitsEnded       = "ended"     // it waits for nothing: see the message's state
	WaitsAnswer      = "in_flight" // a call is under way
	WaitsPause       = "paused"    // a person has paused the sender
	WaitsStopped     = "sender_stopped"
	WaitsOutage      = "outage"
	WaitsChannelGate = "bot_gate"
	WaitsLink        = "no_chat"
	WaitsPlan        = "not_before"
	WaitsEarlier     = "earlier_message"
	WaitsGate        = "chat_gate"
	WaitsDoubt       = "chat_doubtful"
	WaitsPace        = "chat_pace"
	WaitsTask        = "chat_busy"
	WaitsBackoff     = "back_off"
	WaitsSign        = "uncertain"
	WaitsTurn        = "due"
)

// Explain says what a message waits for, from what is stored: any process can.
func (o *Outbox) Explain(tx database.Tx, now time.Time, id int64) (Explanation, error) {
	m, err := o.Message(tx, id)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Message: m}
	switch m.State {
	case StatePending:
	case StateSending:
		e.Code, e.Text = WaitsAnswer, fmt.Sprintf("It is being sent; %s has not answered yet.", o.title())
		return e, nil
	default:
		e.Code, e.Text = WaitsEnded, o.ended(m)
		return e, nil
	}
	for _, reason := range []func(database.Tx, *Explanation, time.Time) (bool, error){
		o.heldByChannel, o.heldByLink, o.heldByPlan, o.heldByEarlier, o.heldByRecipient, o.heldByItself,
	} {
		if holds, err := reason(tx, &e, now); holds || err != nil {
			return e, err
		}
	}
	e.Code, e.Text = WaitsTurn, "It is due and goes as soon as its turn comes; if it stays so, see whether a sender is running."
	return e, nil
}

// ended is what became of a message.
func (o *Outbox) ended(m Message) string {
	at := m.EndedAt.Format(time.RFC3339)
	because := ""
	if m.Detail != "" {
		because = ": " + m.Detail
	}
	switch m.State {
	case StateSent:
		return fmt.Sprintf("It was sent to %s at %s.", m.Address, at)
	case StateUncertain:
		return fmt.Sprintf("%s may have it, and it is not sent again by itself%s. "+
			"Ask the customer, then retry or cancel it.", o.title(), because)
	case StateCanceled:
		return fmt.Sprintf("It was canceled at %s (%s).", at, m.Reason)
	}
	return fmt.Sprintf("It failed for good at %s (%s)%s.", at, m.Reason, because)
}

func (o *Outbox) heldByChannel(tx database.Tx, e *Explanation, now time.Time) (bool, error) {
	s, err := o.Status(tx, now)
	if err != nil || s.State == SenderRunning {
		return false, err
	}
	if s.State == SenderWaiting && e.Message.Doubts > 0 {
		return false, nil // what it waits for is more than the end of an outage
	}
	e.Text, e.Until = "Nothing is sent at present: "+s.Reason+".", s.Until
	switch s.State {
	case SenderPaused:
		e.Code = WaitsPause
		e.Text += " Resume the sender."
	case SenderStopped:
		e.Code = WaitsStopped
	default:
		e.Code = WaitsOutage
		row, err := o.sender(tx)
		if err != nil {
			return false, err
		}
		if row.gateUntil.After(now) {
			e.Code = WaitsChannelGate
		}
	}
	return true, nil
}

func (o *Outbox) heldByLink(tx database.Tx, e *Explanation, now time.Time) (bool, error) {
	if e.Message.hold != holdNoChat && addressOf(e.Message.Recipient, e.Message.Address) != "" {
		return false, nil
	}
	ps, err := o.pauses(tx)
	if err != nil {
		return false, err
	}
	expires := o.policy.expiry(e.Message, ps, now)
	e.Code = WaitsLink
	e.Text = fmt.Sprintf("%s has no chat yet: it goes when the customer has one, and expires at %s.",
		e.Message.Recipient, expires.Format(time.RFC3339))
	return true, nil
}

func (o *Outbox) heldByPlan(_ database.Tx, e *Explanation, now time.Time) (bool, error) {
	if e.Message.hold == holdNone && e.Message.line != "" || !e.Message.NotBefore.After(now) {
		return false, nil
	}
	e.Code, e.Until = WaitsPlan, e.Message.NotBefore
	e.Text = "It is planned for " + e.Message.NotBefore.Format(time.RFC3339) + "."
	return true, nil
}

// heldByEarlier names the message before it, and what that one waits for.
func (o *Outbox) heldByEarlier(tx database.Tx, e *Explanation, now time.Time) (bool, error) {
	var head sql.NullInt64
	err := tx.QueryRow(`SELECT coalesce((SELECT id FROM outbox WHERE channel = ?1 AND address = ?2 AND state = 'sending' LIMIT 1),
		(SELECT id FROM outbox WHERE channel = ?1 AND address = ?2 AND state = 'pending' AND address IS NOT NULL
			AND hold = 0 ORDER BY rank, id LIMIT 1))`, o.channel, e.Message.line).Scan(&head)
	if err != nil {
		return false, fmt.Errorf("look for messages before %d: %w", e.Message.ID, err)
	}
	first := head.Int64
	if first == 0 || first == e.Message.ID {
		return false, nil
	}
	before, err := o.Explain(tx, now, first)
	if err != nil {
		return false, err
	}
	e.Code, e.Until = WaitsEarlier, before.Until
	e.Text = fmt.Sprintf("Message %d to the same chat comes first. %s", first, before.Text)
	return true, nil
}

func (o *Outbox) heldByRecipient(tx database.Tx, e *Explanation, now time.Time) (bool, error) {
	r, err := o.Recipient(tx, e.Message.Address)
	if err != nil {
		return false, err
	}
	switch {
	case r.GateUntil.After(now):
		e.Code, e.Until = WaitsGate, r.GateUntil
		e.Text = fmt.Sprintf("%s asked us to wait with this chat until %s.", o.title(), r.GateUntil.Format(time.RFC3339))
	case r.State == RecipientDoubtful && r.doubtUntil.After(now):
		e.Code, e.Until = WaitsDoubt, r.doubtUntil
		e.Text = fmt.Sprintf("The chat was refused (%s); it is tried again at %s.", r.Detail, r.doubtUntil.Format(time.RFC3339))
	case r.paceUntil.After(now.Add(time.Second)):
		e.Code, e.Until = WaitsPace, r.paceUntil
		e.Text = fmt.Sprintf("The chat's own limit of messages allows the next one at %s.", r.paceUntil.Format(time.RFC3339))
	default:
		return o.heldByTask(tx, e, r.Address)
	}
	return true, nil
}

// heldByTask says that work in slices concerns the address.
func (o *Outbox) heldByTask(tx database.Tx, e *Explanation, address string) (bool, error) {
	busy, err := o.inTask(tx, address, address)
	if busy {
		e.Code = WaitsTask
		e.Text = "Messages of this chat are being moved or ended at this moment; it goes on by itself while a sender runs."
	}
	return busy, err
}

func (o *Outbox) heldByItself(_ database.Tx, e *Explanation, now time.Time) (bool, error) {
	m := e.Message
	switch {
	case m.Doubts > 0:
		e.Code, e.Until = WaitsSign, m.readyAt
		e.Text = fmt.Sprintf("%s may have it already (%s). It is sent once more when %s has shown that it works, no sooner than 30 s after that.",
			o.title(), m.Detail, o.title())
	case m.RetryAt.After(now):
		e.Code, e.Until = WaitsBackoff, m.RetryAt
		e.Text = fmt.Sprintf("It failed %d of %d times (%s); it is tried again at %s.",
			m.Failures, o.policy.MaxAttempts, m.Detail, m.RetryAt.Format(time.RFC3339))
	default:
		return false, nil
	}
	return true, nil
}
