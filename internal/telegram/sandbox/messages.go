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
	Keyboard    json.RawMessage `json:"keyboard,omitempty"` // what it did to the customer's own keyboard
	ReplyTo     int64           `json:"replyTo,omitempty"`  // the message it answers
	ReceivedAt  time.Time       `json:"receivedAt"`         // when it took its place in the limits
	EditedAt    time.Time       `json:"editedAt,omitzero"`  // the texts are those of the latest edit

	sentBy    uint64 // the call that sent it
	editedBy  uint64 // the call of the latest edit; zero without one
	entities  []markup.Entity
	file      *sentFile
	reply     *repliedTo
	preview   *linkPreview
	effect    string
	protected bool
}

// isCaption tells whether the text is a caption.
func (m *Message) isCaption() bool { return m.Kind != KindText }

// messageObject is the Bot API's Message.
type messageObject struct {
	MessageID       int64           `json:"message_id"`
	From            *user           `json:"from,omitempty"`
	Chat            chatObject      `json:"chat"`
	Date            int64           `json:"date"`
	EditDate        int64           `json:"edit_date,omitempty"`
	ReplyTo         *messageObject  `json:"reply_to_message,omitempty"`
	ExternalReply   *externalReply  `json:"external_reply,omitempty"`
	Quote           *textQuote      `json:"quote,omitempty"`
	Text            string          `json:"text,omitempty"`
	Entities        []markup.Entity `json:"entities,omitempty"`
	LinkPreview     *linkPreview    `json:"link_preview_options,omitempty"`
	Photo           []photoSize     `json:"photo,omitempty"`
	Document        *document       `json:"document,omitempty"`
	Caption         string          `json:"caption,omitempty"`
	CaptionEntities []markup.Entity `json:"caption_entities,omitempty"`
	Protected       bool            `json:"has_protected_content,omitempty"`
	Effect          string          `json:"effect_id,omitempty"`
	ReplyMarkup     json.RawMessage `json:"reply_markup,omitempty"`
	MigrateTo       int64           `json:"migrate_to_chat_id,omitempty"`
	MigrateFrom     int64           `json:"migrate_from_chat_id,omitempty"`
}

// messageOrigin is the Bot API's MessageOrigin, of a message by a user.
type messageOrigin struct {
	Type string `json:"type"`
	Date int64  `json:"date"`
	User *user  `json:"sender_user"`
}

func (o *messageObject) origin() messageOrigin { return messageOrigin{"user", o.Date, o.From} }

// object is a bot's message as the Bot API shows it, with the message that it
// answers; w.mu is held.
func (w *world) object(m *Message) messageObject {
	object := w.plainObject(m)
	if r := m.reply; r != nil {
		object.Quote, object.ExternalReply = r.quote, r.external
		if r.external == nil {
			object.ReplyTo = w.anyMessage(m.ChatID, r.messageID)
		}
	}
	return object
}

// plainObject is a bot's message without the one that it answers; w.mu is held.
func (w *world) plainObject(m *Message) messageObject {
	from := w.bot(m.BotID).user()
	object := messageObject{
		MessageID:   m.MessageID,
		From:        &from,
		Chat:        w.chat(m.ChatID).object(),
		Date:        m.ReceivedAt.Unix(),
		LinkPreview: m.preview,
		Protected:   m.protected,
		Effect:      m.effect,
		ReplyMarkup: m.ReplyMarkup,
	}
	if !m.EditedAt.IsZero() {
		object.EditDate = m.EditedAt.Unix()
	}
	if m.isCaption() {
		object.Caption, object.CaptionEntities = m.VisibleText, m.entities
	} else {
		object.Text, object.Entities = m.VisibleText, m.entities
	}
	switch m.Kind {
	case KindPhoto:
		object.Photo = m.file.photoSizes()
	case KindDocument:
		object.Document = m.file.document()
	case KindText:
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

// anyMessage is a message of a chat, the customer's included, as the Bot API
// shows it; nil if it is not known, or forgotten. w.mu is held.
func (w *world) anyMessage(chatID, messageID int64) *messageObject {
	if m := w.message(chatID, messageID); m != nil {
		object := w.plainObject(m)
		return &object
	}
	for _, l := range w.chat(chatID).lines {
		if l.id == messageID && l.incoming != nil {
			return l.incoming
		}
	}
	return nil
}

// knowsMessage tells whether a chat has a message, the customer's included. What
// is older than its transcript is taken for granted.
func (w *world) knowsMessage(chatID, messageID int64) bool {
	if w.anyMessage(chatID, messageID) != nil {
		return true
	}
	lines := w.chat(chatID).lines
	oldest := int64(0)
	for _, l := range lines {
		if oldest = l.id; oldest != 0 {
			break
		}
	}
	return len(lines) == maxLines && (oldest == 0 || messageID < oldest)
}
