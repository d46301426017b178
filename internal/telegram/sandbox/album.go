package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"notifier/internal/telegram/sandbox/markup"
)

// inputMedia is the Bot API's InputMedia: a file and what is said about it.
type inputMedia struct {
	kind    MessageKind
	media   string // a URL, a file_id or attach://
	caption rawText
	parsed  markup.Text
	said    params
	above   bool
}

// inputKinds are the kinds that InputMedia can have; not all go into an album.
var inputKinds = map[string]MessageKind{
	"photo": KindPhoto, "video": KindVideo, "animation": KindAnimation, "audio": KindAudio, "document": KindDocument,
}

func readInputMedia(raw json.RawMessage, forAlbum bool) (inputMedia, error) {
	var in inputMedia
	object, err := parseObject(raw)
	if err != nil {
		return in, errors.New("expected an Object")
	}
	in.caption.entities = object["caption_entities"]
	if in.caption.text, err = object.text("caption"); err != nil {
		return in, err
	}
	if in.caption.mode, err = object.text("parse_mode"); err != nil {
		return in, err
	}
	if in.parsed, err = in.caption.parse(); err != nil {
		return in, err
	}
	if in.above, err = object.flag("show_caption_above_media"); err != nil {
		return in, err
	}
	name, err := object.requiredText("type")
	if err != nil {
		return in, err
	}
	if in.media, err = object.text("media"); err != nil {
		return in, err
	}
	kind, known := inputKinds[name]
	switch {
	case in.media == "":
		return in, errors.New("media not found")
	case !known:
		return in, errors.New("invalid type specified")
	case forAlbum && kind == KindAnimation:
		return in, fmt.Errorf("type \"%s\" can't be used in sendMediaGroup", name)
	}
	in.kind, in.said = kind, saidOf(object)
	return in, nil
}

// saidOf makes the fields of an object parameters.
func saidOf(object jsonObject) params {
	said := params{values: map[string]string{}}
	for name := range object {
		if text, err := object.text(name); err == nil {
			said.values[name] = text
		}
	}
	return said
}

// message makes a message of it.
func (in inputMedia) message(c *call) (*Message, *apiError) {
	file, err := c.file(in.kind, "", in.media)
	if err != nil {
		return nil, err
	}
	mode, _ := markup.Mode(in.caption.mode)
	m := &Message{
		BotID: c.bot.id, Kind: in.kind, Text: in.caption.text, ParseMode: mode, sentBy: c.record.CallID, file: file,
		captionAbove: in.above, protected: c.params.flag("protect_content"), effect: c.params.effect(),
	}
	if in.kind != KindPhoto && in.kind != KindDocument {
		m.media = file.media(in.kind, in.said)
	}
	return m, nil
}

// The sizes of an album.
const (
	minAlbum = 2
	maxAlbum = 10
)

// sendMediaGroup sends an album. For the limits it is one message.
func sendMediaGroup(c *call) (any, *apiError) {
	reply, err := c.params.replyParameters()
	if err != nil {
		return nil, err
	}
	list, broken := readAlbum(c.params)
	if broken != nil {
		return nil, telegramRefusal(broken)
	}
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	var messages []*Message
	for _, in := range list {
		m, err := in.message(c)
		if err != nil {
			return nil, err
		}
		m.ChatID = chatID
		messages = append(messages, m)
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	const restricted = "not enough rights to send media to the chat"
	album := strconv.FormatInt(w.dice.Int64(), 10)
	for i, m := range messages {
		d := &draft{message: m, text: list[i].parsed, reply: reply, thread: c.params.integer("message_thread_id", 0)}
		if err := w.judge(d, restricted); err != nil {
			return nil, err
		}
		m.album = album
	}
	if len(messages) < minAlbum || len(messages) > maxAlbum {
		return nil, badRequest("media group must include 2-10 items")
	}
	if mixed(messages) {
		return nil, badRequest("can't use the media of the specified type in the album")
	}
	if err := c.place(restricted, messages...); err != nil {
		return nil, err
	}
	var result []messageObject
	for _, m := range messages {
		result = append(result, w.object(m))
	}
	return result, nil
}

func readAlbum(p params) ([]inputMedia, error) {
	text, err := p.required("media")
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if !json.Valid([]byte(text)) {
		return nil, telegramError("Can't parse media JSON object")
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, telegramError("Expected an Array of InputMedia")
	}
	var album []inputMedia
	for _, raw := range list {
		in, err := readInputMedia(raw, true)
		if err != nil {
			return nil, telegramErrorf("Can't parse InputMedia: %v", err)
		}
		album = append(album, in)
	}
	return album, nil
}

// mixed tells whether an album has documents or music beside something else.
func mixed(messages []*Message) bool {
	for _, m := range messages {
		if (m.Kind == KindDocument || m.Kind == KindAudio || messages[0].Kind == KindDocument || messages[0].Kind == KindAudio) &&
			m.Kind != messages[0].Kind {
			return true
		}
	}
	return false
}
