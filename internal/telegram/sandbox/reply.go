package sandbox

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"notifier/internal/telegram/sandbox/markup"
)

// replyParameters name the message that a new one answers.
type replyParameters struct {
	messageID int64
	chatID    string // of the message; empty means the same chat
	optional  bool   // send even if it is gone
	quote     markup.Text
	position  int
}

// replyParameters reads reply_parameters, or the older parameters.
func (p params) replyParameters() (replyParameters, *apiError) {
	text, given := p.values["reply_parameters"]
	if !given {
		return replyParameters{
			messageID: max(0, p.integer("reply_to_message_id", 0)), optional: p.flag("allow_sending_without_reply"),
		}, nil
	}
	if text == "" {
		return replyParameters{}, nil
	}
	if !json.Valid([]byte(text)) {
		return replyParameters{}, badRequest("can't parse reply parameters JSON object")
	}
	object, err := parseObject([]byte(text))
	if err != nil {
		return replyParameters{}, badRequest("object expected as reply parameters")
	}
	if len(object) == 0 {
		return replyParameters{}, nil
	}
	reply, err := readReply(object)
	if err != nil {
		return replyParameters{}, telegramRefusal(err)
	}
	return reply, nil
}

func readReply(object jsonObject) (replyParameters, error) {
	var r replyParameters
	var err error
	if r.chatID, err = object.text("chat_id"); err != nil {
		return r, err
	}
	id, err := object.requiredInteger("message_id")
	if err != nil {
		return r, err
	}
	r.messageID = int64(max(0, id))
	if r.optional, err = object.flag("allow_sending_without_reply"); err != nil {
		return r, err
	}
	quote := rawText{entities: object["quote_entities"]}
	if quote.text, err = object.text("quote"); err != nil {
		return r, err
	}
	if quote.mode, err = object.text("quote_parse_mode"); err != nil {
		return r, err
	}
	if r.quote, err = quote.parse(); err != nil {
		return r, err
	}
	r.position, err = object.integer("quote_position")
	return r, err
}

// textQuote is the Bot API's TextQuote.
type textQuote struct {
	Text     string          `json:"text"`
	Entities []markup.Entity `json:"entities,omitempty"`
	Position int             `json:"position"`
	IsManual bool            `json:"is_manual,omitempty"`
}

// externalReply is the Bot API's ExternalReplyInfo, of a message of another
// chat.
type externalReply struct {
	Origin    messageOrigin `json:"origin"`
	Chat      chatObject    `json:"chat"`
	MessageID int64         `json:"message_id"`
}

// repliedTo is what a message remembers of the one it answers.
type repliedTo struct {
	messageID int64
	quote     *textQuote
	external  *externalReply // when that is in another chat
}

// answered finds the message that a new one in a chat is to answer; w.mu is
// held. It is nil when there is none and need not be.
func (w *world) answered(chatID int64, r replyParameters) (*repliedTo, *apiError) {
	if r.messageID == 0 {
		return nil, nil
	}
	in := chatID
	if r.chatID != "" {
		var err *apiError
		if in, err = parseChatID(r.chatID); err != nil {
			return nil, err
		}
		if _, known := w.chats[in]; !known && w.options.StrictChats {
			return nil, badRequest("chat not found")
		}
	}
	if !w.knowsMessage(in, r.messageID) {
		if r.optional {
			return nil, nil
		}
		return nil, badRequest("message to be replied not found")
	}
	answered := &repliedTo{messageID: r.messageID}
	original := w.anyMessage(in, r.messageID)
	if r.quote.Text != "" {
		quote, err := quoteOf(original, r)
		if err != nil {
			return nil, err
		}
		answered.quote = quote
	}
	if in != chatID && original != nil {
		answered.external = &externalReply{original.origin(), original.Chat, r.messageID}
	}
	return answered, nil
}

// maxQuote is the longest quote in characters.
const maxQuote = 1024

// quoteOf finds a quote in the text of the message it is from; one that is not
// there is refused, as by Telegram's servers. A message that is forgotten is
// believed to have had it.
func quoteOf(original *messageObject, r replyParameters) (*textQuote, *apiError) {
	fixed, err := r.quote.Fix(markup.Rules{MayBeEmpty: true})
	if err != nil {
		return nil, telegramRefusal(err)
	}
	quote := &textQuote{Text: fixed.Text, Entities: fixed.Entities, Position: r.position, IsManual: true}
	if original == nil {
		return quote, nil
	}
	text := original.Text + original.Caption
	if utf8.RuneCountInString(fixed.Text) > maxQuote || !strings.Contains(text, fixed.Text) {
		return nil, badRequest("QUOTE_TEXT_INVALID")
	}
	quote.Position = nearest(text, fixed.Text, r.position)
	return quote, nil
}

// nearest is where a part of a text begins that is the nearest to a position;
// both in UTF-16 units.
func nearest(text, part string, position int) int {
	best, distance := 0, -1
	for i := 0; ; {
		next := strings.Index(text[i:], part)
		if next < 0 {
			return best
		}
		i += next
		at := markup.UTF16Length(text[:i])
		if d := max(at-position, position-at); distance < 0 || d < distance {
			best, distance = at, d
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += max(1, size)
	}
}
