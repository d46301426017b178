package sandbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"notifier/internal/telegram/sandbox/markup"
)

// MessageKind is what a message consists of.
type MessageKind string

// The kinds of messages.
const (
	KindText     MessageKind = "text"
	KindPhoto    MessageKind = "photo"
	KindDocument MessageKind = "document"
)

// Message is one message that was truly delivered to a chat.
type Message struct {
	MessageID   int64           `json:"messageId"`
	BotID       int64           `json:"botId"`
	ChatID      int64           `json:"chatId"`
	Kind        MessageKind     `json:"kind"`
	Text        string          `json:"text"`        // or caption, as the bot sent it, with its markup
	VisibleText string          `json:"visibleText"` // as the customer sees it
	ParseMode   string          `json:"parseMode"`   // HTML, Markdown, MarkdownV2 or empty
	ReplyMarkup json.RawMessage `json:"replyMarkup,omitempty"`
	ReceivedAt  time.Time       `json:"receivedAt"`        // when it took its place in the limits
	EditedAt    time.Time       `json:"editedAt,omitzero"` // the texts are those of the latest edit

	sentBy   uint64 // the call that sent it
	editedBy uint64 // the call of the latest edit; zero without one
	entities []markup.Entity
	file     *sentFile
}

// messageObject is the Bot API's Message.
type messageObject struct {
	MessageID       int64           `json:"message_id"`
	From            *user           `json:"from,omitempty"`
	Chat            chatObject      `json:"chat"`
	Date            int64           `json:"date"`
	EditDate        int64           `json:"edit_date,omitempty"`
	Text            string          `json:"text,omitempty"`
	Entities        []markup.Entity `json:"entities,omitempty"`
	Photo           []photoSize     `json:"photo,omitempty"`
	Document        *document       `json:"document,omitempty"`
	Caption         string          `json:"caption,omitempty"`
	CaptionEntities []markup.Entity `json:"caption_entities,omitempty"`
	ReplyMarkup     json.RawMessage `json:"reply_markup,omitempty"`
	MigrateTo       int64           `json:"migrate_to_chat_id,omitempty"`
	MigrateFrom     int64           `json:"migrate_from_chat_id,omitempty"`
}

// object is a bot's message as the Bot API shows it; w.mu is held.
func (w *world) object(m *Message) messageObject {
	from := w.bot(m.BotID).user()
	object := messageObject{
		MessageID:   m.MessageID,
		From:        &from,
		Chat:        w.chat(m.ChatID).object(),
		Date:        m.ReceivedAt.Unix(),
		ReplyMarkup: m.ReplyMarkup,
	}
	if !m.EditedAt.IsZero() {
		object.EditDate = m.EditedAt.Unix()
	}
	switch m.Kind {
	case KindText:
		object.Text, object.Entities = m.VisibleText, m.entities
	case KindPhoto:
		object.Photo = m.file.photoSizes()
		object.Caption, object.CaptionEntities = m.VisibleText, m.entities
	case KindDocument:
		object.Document = m.file.document()
		object.Caption, object.CaptionEntities = m.VisibleText, m.entities
	}
	return object
}

// message finds a bot's message by its place; w.mu is held.
func (w *world) message(chatID, messageID int64) *Message {
	i, found := w.messageIndex(messageID)
	if !found || w.messages.entries[i].ChatID != chatID {
		return nil
	}
	return w.messages.entries[i]
}

// messageIndex is where a message is, or would be, among those that are kept;
// w.mu is held. Ids are given in the order of delivery, in all chats together.
func (w *world) messageIndex(messageID int64) (index int, found bool) {
	return slices.BinarySearchFunc(w.messages.entries, messageID, func(m *Message, id int64) int {
		return cmp.Compare(m.MessageID, id)
	})
}
