package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"notifier/internal/telegram/sandbox/markup"
)

// maxRawText is how long a text or caption may be before parsing, in bytes.
const maxRawText = 1 << 15

// parseMode is the parse mode as Telegram spells it.
func (p params) parseMode() string {
	spelled, _ := markup.Mode(p.values["parse_mode"])
	return spelled
}

// rawText is a text as a bot wrote it.
type rawText struct {
	text     string
	mode     string          // parse mode
	entities json.RawMessage // an array in place of a parse mode; anything else is ignored
}

// rawText finds a text among the parameters.
func (p params) rawText(name, mode, entities string) rawText {
	return rawText{p.values[name], p.values[mode], json.RawMessage(p.values[entities])}
}

// parse parses a text by its parse mode. Without one, what is marked is given as
// an array of entities. Its error is Telegram's.
func (t rawText) parse() (markup.Text, error) {
	if len(t.text) > maxRawText {
		return markup.Text{}, errors.New("text is too long")
	}
	mode := strings.ToLower(t.mode)
	if t.text == "" || mode == "" || mode == "none" {
		entities, err := givenEntities(t.entities)
		return markup.Text{Text: t.text, Entities: entities}, err
	}
	if _, known := markup.Mode(mode); !known {
		return markup.Text{}, errors.New("unsupported parse_mode")
	}
	parsed, err := markup.Parse(mode, t.text)
	if err != nil {
		return markup.Text{}, fmt.Errorf("can't parse entities: %w", err)
	}
	return parsed, nil
}

// givenEntities reads an array of entities. Those that only the server may mark
// are left out.
func givenEntities(raw json.RawMessage) ([]markup.Entity, error) {
	var list []json.RawMessage
	if !json.Valid(raw) || json.Unmarshal(raw, &list) != nil {
		return nil, nil //nolint:nilerr // the server ignores what is no array
	}
	var entities []markup.Entity
	for _, item := range list {
		e, err := givenEntity(item)
		if err != nil {
			return nil, fmt.Errorf("can't parse MessageEntity: %w", err)
		}
		if markup.IsMark(e.Type) {
			entities = append(entities, e)
		}
	}
	for i := range entities {
		if err := judgeEntity(&entities[i]); err != nil {
			return nil, err
		}
	}
	return entities, nil
}

// givenEntity reads one entity.
func givenEntity(raw json.RawMessage) (markup.Entity, error) {
	var e markup.Entity
	object, err := parseObject(raw)
	if err != nil {
		return e, errors.New("expected an Object")
	}
	if e.Offset, err = object.requiredInteger("offset"); err != nil {
		return e, err
	}
	if e.Length, err = object.requiredInteger("length"); err != nil {
		return e, err
	}
	if e.Type, err = object.requiredText("type"); err != nil {
		return e, err
	}
	switch e.Type {
	case "pre":
		e.Language, err = object.text("language")
	case "text_link":
		e.URL, err = object.requiredText("url")
	case "text_mention":
		e.User, err = mentionedUser(object)
	case "custom_emoji":
		var id int64
		id, err = object.requiredLong("custom_emoji_id")
		e.CustomEmojiID = strconv.FormatInt(id, 10)
	case "date_time":
		err = readDate(object, &e)
	case "":
		err = telegramError("Type is not specified")
	default:
		if !markup.IsType(e.Type) {
			err = telegramError("Unsupported type specified")
		}
	}
	return e, err
}

func mentionedUser(object jsonObject) (*markup.User, error) {
	user, err := object.requiredObject("user")
	if err != nil {
		return nil, err
	}
	id, err := user.requiredLong("id")
	return &markup.User{ID: id, FirstName: customerName(id)}, err
}

func readDate(object jsonObject, e *markup.Entity) error {
	unix, err := object.requiredInteger("unix_time")
	if err != nil {
		return err
	}
	format, err := object.text("date_time_format")
	if err != nil {
		return err
	}
	e.UnixTime = int64(unix)
	if e.DateFormat, err = markup.DateFormat(format); err != nil {
		return telegramError("Invalid date-time format specified")
	}
	return nil
}

// judgeEntity checks what an entity refers to, as tdlib does after the server
// has read it.
func judgeEntity(e *markup.Entity) error {
	switch e.Type {
	case "text_link":
		if id, isUser := markup.UserOfLink(e.URL); isUser {
			e.Type, e.URL, e.User = "text_mention", "", &markup.User{ID: id, FirstName: customerName(id)}
			return nil
		}
		checked, err := checkedURL(e.URL, "entity")
		e.URL = checked
		return err
	case "custom_emoji":
		if e.CustomEmojiID == "0" {
			return telegramError("Invalid custom emoji identifier specified")
		}
	case "date_time":
		if e.UnixTime <= 0 {
			return telegramError("Invalid date specified")
		}
	}
	return nil
}

// maxEntities is how many entities a message keeps; further ones are ignored.
const maxEntities = 100

// fixText makes of a parsed text what is stored.
func (w *world) fixText(text markup.Text, mayBeEmpty bool) (markup.Text, *apiError) {
	fixed, err := text.Fix(markup.Rules{MayBeEmpty: mayBeEmpty, Find: w.options.FindEntities})
	if err != nil {
		return markup.Text{}, telegramRefusal(err)
	}
	fixed.Entities = fixed.Entities[:min(len(fixed.Entities), maxEntities)]
	return fixed, nil
}
