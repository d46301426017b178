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
	KindText      MessageKind = "text"
	KindPhoto     MessageKind = "photo"
	KindDocument  MessageKind = "document"
	KindVideo     MessageKind = "video"
	KindAnimation MessageKind = "animation"
	KindAudio     MessageKind = "audio"
	KindVoice     MessageKind = "voice"
	KindVideoNote MessageKind = "video_note"
	KindSticker   MessageKind = "sticker"
	KindLocation  MessageKind = "location"
	KindVenue     MessageKind = "venue"
	KindContact   MessageKind = "contact"
	KindPoll      MessageKind = "poll"
	KindDice      MessageKind = "dice"
	KindInvoice   MessageKind = "invoice"
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
	DeletedAt   time.Time       `json:"deletedAt,omitzero"` // when the bot deleted it

	sentBy          uint64 // the call that sent it
	editedBy        uint64 // the call of the latest edit; zero without one
	entities        []markup.Entity
	file            *sentFile
	media           json.RawMessage // the Bot API's object of a kind other than text, photo and document
	removesKeyboard bool
	album           string         // the media_group_id
	forward         *messageOrigin // where it was forwarded from
	payload         string         // of an invoice
	thread          int64
	captionAbove    bool
	reply           *repliedTo
	preview         *linkPreview
	effect          string
	protected       bool
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
	ForwardOrigin   *messageOrigin  `json:"forward_origin,omitempty"`
	ThreadID        int64           `json:"message_thread_id,omitempty"`
	IsTopic         bool            `json:"is_topic_message,omitempty"`
	Album           string          `json:"media_group_id,omitempty"`
	Photo           []photoSize     `json:"photo,omitempty"`
	Document        *document       `json:"document,omitempty"`
	Video           json.RawMessage `json:"video,omitempty"`
	Animation       json.RawMessage `json:"animation,omitempty"`
	Audio           json.RawMessage `json:"audio,omitempty"`
	Voice           json.RawMessage `json:"voice,omitempty"`
	VideoNote       json.RawMessage `json:"video_note,omitempty"`
	Sticker         json.RawMessage `json:"sticker,omitempty"`
	Location        json.RawMessage `json:"location,omitempty"`
	Venue           json.RawMessage `json:"venue,omitempty"`
	Contact         json.RawMessage `json:"contact,omitempty"`
	Poll            json.RawMessage `json:"poll,omitempty"`
	Dice            json.RawMessage `json:"dice,omitempty"`
	Invoice         json.RawMessage `json:"invoice,omitempty"`
	Payment         json.RawMessage `json:"successful_payment,omitempty"`
	Pinned          *messageObject  `json:"pinned_message,omitempty"`
	Caption         string          `json:"caption,omitempty"`
	CaptionEntities []markup.Entity `json:"caption_entities,omitempty"`
	CaptionAbove    bool            `json:"show_caption_above_media,omitempty"`
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
	object.ForwardOrigin, object.Album, object.CaptionAbove = m.forward, m.album, m.captionAbove
	object.ThreadID, object.IsTopic = m.thread, m.thread != 0
	object.contain(m)
	return object
}

// contain gives a message what it consists of besides its text.
func (o *messageObject) contain(m *Message) {
	switch m.Kind {
	case KindText:
	case KindPhoto:
		o.Photo = m.file.photoSizes()
	case KindDocument:
		o.Document = m.file.document()
	case KindAnimation:
		o.Animation, o.Document = m.media, m.file.document() // for clients that do not know animations
	case KindVenue:
		o.Venue = m.media
		var v venue
		if json.Unmarshal(m.media, &v) == nil {
			o.Location = encode(v.Location)
		}
	default:
		*o.field(m.Kind) = m.media
	}
}

// field is where a message of a kind has its content.
func (o *messageObject) field(kind MessageKind) *json.RawMessage {
	return map[MessageKind]*json.RawMessage{
		KindVideo: &o.Video, KindAudio: &o.Audio, KindVoice: &o.Voice, KindVideoNote: &o.VideoNote,
		KindSticker: &o.Sticker, KindLocation: &o.Location, KindContact: &o.Contact, KindPoll: &o.Poll,
		KindDice: &o.Dice, KindInvoice: &o.Invoice,
	}[kind]
}

// message finds a bot's message by its place, unless it was deleted; w.mu is
// held.
func (w *world) message(chatID, messageID int64) *Message {
	i, found := w.messageIndex(messageID)
	if !found || w.messages.entries[i].ChatID != chatID || !w.messages.entries[i].DeletedAt.IsZero() {
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
