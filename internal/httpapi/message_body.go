package httpapi

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/syntax"
)

// maxPayload is the limit of the table outbox, in characters.
const maxPayload = 262144

type sendBody struct {
	ChatID      *int64     `json:"chatId,omitempty" doc:"this, or customerId"`
	CustomerID  string     `json:"customerId,omitempty" maxLength:"200" doc:"follows the customer, and waits for a link if need be"`
	Text        string     `json:"text,omitempty" doc:"plain text; this, or type and payload"`
	Type        string     `json:"type,omitempty" maxLength:"64"`
	Payload     object     `json:"payload,omitempty"`
	NotBefore   *time.Time `json:"notBefore,omitempty"`
	ExpiresAt   *time.Time `json:"expiresAt,omitempty"`
	OnUncertain string     `json:"onUncertain,omitempty" enum:"resend,hold"`
}

// message checks what the schema cannot say and turns the body into what the outbox takes.
func (b sendBody) message(check func(string, json.RawMessage) error) (outbox.NewMessage, error) {
	m := outbox.NewMessage{Type: b.Type, Payload: json.RawMessage(b.Payload), OnUncertain: b.OnUncertain}
	if err := b.setRecipient(&m); err != nil {
		return m, err
	}
	if err := b.setContent(&m, check); err != nil {
		return m, err
	}
	if err := errors.Join(checkTime("/notBefore", b.NotBefore), checkTime("/expiresAt", b.ExpiresAt)); err != nil {
		return m, err
	}
	if b.NotBefore != nil {
		m.NotBefore = *b.NotBefore
	}
	if b.ExpiresAt != nil {
		m.ExpiresAt = *b.ExpiresAt
		if !m.ExpiresAt.After(m.NotBefore) {
			return m, invalid("/expiresAt", "must be later than notBefore")
		}
	}
	return m, nil
}

func (b sendBody) setRecipient(m *outbox.NewMessage) error {
	switch {
	case b.ChatID != nil && b.CustomerID != "":
		return invalid("/customerId", "give either chatId or customerId")
	case b.ChatID != nil && !syntax.IsChatID(*b.ChatID):
		return invalid("/chatId", chatIDExpect)
	case b.ChatID != nil:
		m.Recipient = strconv.FormatInt(*b.ChatID, 10)
	case blank(b.CustomerID):
		return invalid("/customerId", "is blank")
	case b.CustomerID != "":
		m.Recipient = orders.Recipient(b.CustomerID)
	default:
		return invalid("/chatId", "is required, or customerId")
	}
	return nil
}

func (b sendBody) setContent(m *outbox.NewMessage, check func(string, json.RawMessage) error) error {
	pointer := "/payload"
	hasPayload := len(b.Payload) > 0 && string(b.Payload) != "null"
	switch {
	case b.Text != "" && (b.Type != "" || hasPayload):
		return invalid("/text", "give either text, or type and payload")
	case b.Type == "" && hasPayload:
		return invalid("/type", "is required with payload")
	case b.Type != "" && !hasPayload:
		return invalid("/payload", "is required with type")
	case b.Type == "":
		pointer = "/text"
		payload, err := json.Marshal(map[string]string{"text": b.Text})
		if err != nil {
			return err
		}
		m.Type, m.Payload = orders.TypeText, json.RawMessage(payload)
	}
	payload, _ := m.Payload.(json.RawMessage)
	if len(payload) > maxPayload {
		return invalid(pointer, "is larger than 256 KiB")
	}
	if err := check(m.Type, payload); err != nil {
		return invalidContent(pointer, err)
	}
	return nil
}

// MessageBody is what every answer about a message tells.
type MessageBody struct {
	MessageID         int64        `json:"messageId"`
	Recipient         string       `json:"recipient" doc:"the chat, or customer:<id> while there is none"`
	CustomerID        string       `json:"customerId,omitempty"`
	OrderID           int64        `json:"orderId,omitempty"`
	Type              string       `json:"type"`
	Payload           shownJSON    `json:"payload"`
	State             outbox.State `json:"state"`
	Reason            string       `json:"reason,omitempty"`
	Detail            string       `json:"detail,omitempty" doc:"Telegram's words about the last failure"`
	Failures          int          `json:"failures"`
	CreatedAt         time.Time    `json:"createdAt"`
	NotBefore         *time.Time   `json:"notBefore,omitempty"`
	ExpiresAt         *time.Time   `json:"expiresAt,omitempty"`
	RetryAt           *time.Time   `json:"retryAt,omitempty"`
	EndedAt           *time.Time   `json:"endedAt,omitempty"`
	Erased            bool         `json:"erased,omitempty" doc:"its content and attempts were erased after the retention time"`
	OnUncertain       string       `json:"onUncertain,omitempty"`
	TelegramMessageID int64        `json:"telegramMessageId,omitempty"`
	IdempotencyKey    string       `json:"idempotencyKey,omitempty" doc:"of a message that came through the table"`
}

func showMessage(m outbox.Message) MessageBody {
	b := MessageBody{
		MessageID: m.ID, Recipient: whereTo(m), OrderID: orders.SubjectID(m.Subject), Type: m.Type, Payload: shownJSON(m.Payload),
		State: m.State, Reason: m.Reason, Detail: m.Detail, Failures: m.Failures, CreatedAt: m.CreatedAt.UTC(),
		NotBefore: instant(m.NotBefore), ExpiresAt: instant(m.ExpiresAt), RetryAt: instant(m.RetryAt),
		EndedAt: instant(m.EndedAt), Erased: m.Erased, OnUncertain: m.OnUncertain, TelegramMessageID: m.RemoteID, IdempotencyKey: m.Key,
	}
	b.CustomerID = orders.CustomerOf(m.Recipient)
	return b
}

// messagePage shows a message with the calls that were made for it.
type messagePage struct {
	MessageBody
	Attempts []attemptBody `json:"attempts"`
}

type attemptBody struct {
	StartedAt  time.Time      `json:"startedAt"`
	DurationMS *int64         `json:"durationMs" doc:"null while the call is under way"`
	Result     outbox.Verdict `json:"result"`
	Detail     string         `json:"detail"`
}

func showAttempts(attempts []outbox.Attempt) []attemptBody {
	shown := []attemptBody{}
	for _, a := range attempts {
		b := attemptBody{StartedAt: a.StartedAt.UTC(), Result: a.Result, Detail: a.Detail}
		if !a.EndedAt.IsZero() {
			took := a.EndedAt.Sub(a.StartedAt).Milliseconds()
			b.DurationMS = &took
		}
		shown = append(shown, b)
	}
	return shown
}

// explanationBody says what a message waits for, or how it ended.
type explanationBody struct {
	MessageID int64        `json:"messageId"`
	State     outbox.State `json:"state"`
	Code      string       `json:"code"`
	Text      string       `json:"text"`
	Until     *time.Time   `json:"until,omitempty" doc:"when it will move, where that is known"`
}
