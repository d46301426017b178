package httpapi

import (
	"fmt"
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// summarize says in one sentence how an order stands and whether its customer knows. messages are
// those of the order, newest first.
func (a *API) summarize(tx database.Tx, now time.Time, o orders.Order, messages []outbox.Message) (string, error) {
	begin := fmt.Sprintf("Order %s is %s", o.Name(), o.Status)
	m, found := latestForCustomer(messages)
	if !found {
		return begin + "; no message about it is stored any more.", nil
	}
	if m.State != outbox.StatePending {
		return begin + ending(m), nil
	}
	e, err := a.explain(tx, now, m.ID)
	if err != nil {
		return "", fmt.Errorf("summarize order %d: %w", o.ID, err)
	}
	return begin + "; the customer has not been told yet: " + e.Text, nil
}

func latestForCustomer(messages []outbox.Message) (outbox.Message, bool) {
	for _, m := range messages {
		if m.Type != orders.TypeStaffPlaced {
			return m, true
		}
	}
	return outbox.Message{}, false
}

// ending tells the rest of the story of a message that no longer waits.
func ending(m outbox.Message) string {
	switch m.State {
	case outbox.StateSent:
		return fmt.Sprintf(", and the customer was told at %s.", m.EndedAt.UTC().Format("15:04 on 2 January 2006 (UTC)"))
	case outbox.StateSending:
		return ", and the customer is being told at this moment."
	case outbox.StateUncertain:
		return fmt.Sprintf("; whether the customer got message %d about it is not known: retry or cancel it.", m.ID)
	case outbox.StateCanceled:
		return "; the customer was not told: " + inWords(m.Reason, canceledBecause) + "."
	}
	return "; the customer was not told: " + inWords(m.Reason, deadBecause) + "."
}

func inWords(reason string, words map[string]string) string {
	if said, ok := words[reason]; ok {
		return said
	}
	return reason
}

var deadBecause = map[string]string{
	outbox.ReasonChatDead:        "Telegram no longer delivers to their chat",
	outbox.ReasonChatNotFound:    "Telegram does not know their chat",
	outbox.ReasonNoRights:        "the bot may not write in their chat",
	outbox.ReasonRejected:        "Telegram refused the text",
	outbox.ReasonTemplateError:   "the text could not be made",
	outbox.ReasonTooManyAttempts: "it failed too often",
	outbox.ReasonExpired:         "it became too old while it waited",
}

var canceledBecause = map[string]string{
	outbox.ReasonCanceled:   "the message was canceled",
	outbox.ReasonSuperseded: "a later message took its place",
	outbox.ReasonStopped:    "they asked the bot to stop",
}
