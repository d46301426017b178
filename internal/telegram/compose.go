package telegram

import (
	"encoding/json"
	"errors"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"notifier/internal/outbox"
)

// Renderer turns a stored message into its text, asking nobody. Its error says why the message
// can never be sent: one that has the methods Reason and Detail of Unsendable is passed on with
// them, any other counts as a fault of the template.
type Renderer func(messageType string, payload json.RawMessage) (Rendered, error)

// Rendered is the text of one message in both forms.
type Rendered struct {
	HTML    string // in Telegram's HTML (https://core.telegram.org/bots/api#html-style)
	Plain   string // the same without any markup
	Buttons []Button
}

// Button opens an address. Each stands in a row of its own.
type Button struct{ Text, URL string }

// Unsendable is what a Renderer's error should implement.
type Unsendable interface {
	error
	// Reason is outbox.ReasonRejected or outbox.ReasonTemplateError.
	Reason() string
	// Detail is for people; it holds no text of the message.
	Detail() string
}

// composed is a composed message.
type composed struct {
	text    string
	html    bool
	buttons []Button
}

// Compose turns a draft into what Send takes. Its error is a *outbox.Refusal.
func (c *Client) Compose(d outbox.Draft) (outbox.Composed, error) {
	rendered, err := c.render(d.Type, d.Payload)
	if err != nil {
		return nil, refusal(err)
	}
	if d.Plain {
		return &composed{text: rendered.Plain, buttons: rendered.Buttons}, nil
	}
	return &composed{text: rendered.HTML, html: true, buttons: rendered.Buttons}, nil
}

func refusal(err error) *outbox.Refusal {
	var u Unsendable
	if errors.As(err, &u) && (u.Reason() == outbox.ReasonRejected || u.Reason() == outbox.ReasonTemplateError) {
		return &outbox.Refusal{Reason: u.Reason(), Detail: short(u.Detail())}
	}
	return &outbox.Refusal{Reason: outbox.ReasonTemplateError, Detail: "the text could not be made"}
}

// params are those of sendMessage (https://core.telegram.org/bots/api#sendmessage).
func (m *composed) params(address string) *bot.SendMessageParams {
	p := &bot.SendMessageParams{
		ChatID:             address,
		Text:               m.text,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: bot.True()},
	}
	if m.html {
		p.ParseMode = models.ParseModeHTML
	}
	if len(m.buttons) > 0 {
		p.ReplyMarkup = keyboard(m.buttons)
	}
	return p
}

func keyboard(buttons []Button) *models.InlineKeyboardMarkup {
	rows := make([][]models.InlineKeyboardButton, len(buttons))
	for i, b := range buttons {
		rows[i] = []models.InlineKeyboardButton{{Text: b.Text, URL: b.URL}}
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: rows}
}
