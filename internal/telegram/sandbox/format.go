package sandbox

import (
	"encoding/json"
	"slices"
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

// formattedText reads a text and parses it by the parse mode. Without one, what
// is marked is given as a list of entities.
func (p params) formattedText(name, entitiesName string) (markup.Text, *apiError) {
	text := p.values[name]
	if len(text) > maxRawText {
		return markup.Text{}, badRequest("text is too long")
	}
	result := markup.Text{Text: text}
	mode := strings.ToLower(p.values["parse_mode"])
	if mode == "" || mode == "none" {
		var err *apiError
		result.Entities, err = givenEntities(p.values[entitiesName], markup.UTF16Length(text))
		return result.Normalize(), err
	}
	if _, known := markup.Mode(mode); !known {
		return markup.Text{}, badRequest("unsupported parse_mode")
	}
	result, err := markup.Parse(mode, text)
	if err != nil {
		return markup.Text{}, badRequest("can't parse entities: %v", err)
	}
	return result.Normalize(), nil
}

// givenEntities reads a list of entities. Those outside the text and those that
// only the server may mark are left out.
func givenEntities(list string, length int) ([]markup.Entity, *apiError) {
	if list == "" {
		return nil, nil
	}
	var given []markup.Entity
	if err := json.Unmarshal([]byte(list), &given); err != nil {
		return nil, badRequest("can't parse entities: expected an Array of MessageEntity")
	}
	return slices.DeleteFunc(given, func(e markup.Entity) bool {
		return e.Offset < 0 || e.Length <= 0 || e.Offset > length-e.Length || !markup.IsMark(e.Type)
	}), nil
}
