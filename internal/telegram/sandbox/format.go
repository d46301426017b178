package sandbox

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxRawText is how long a text or caption may be before parsing, in bytes.
const maxRawText = 1 << 15

// parsers read the parse modes, by lower-case name.
var parsers = map[string]struct {
	name  string
	parse func(string) (formatted, error)
}{
	"html":       {"HTML", parseHTML},
	"markdown":   {"Markdown", parseMarkdown},
	"markdownv2": {"MarkdownV2", parseMarkdownV2},
}

// parseMode is the parse mode as Telegram spells it.
func (p params) parseMode() string {
	return parsers[strings.ToLower(p.values["parse_mode"])].name
}

// formattedText reads a text and parses it by the parse mode. Without one, what
// is marked is given as a list of entities.
func (p params) formattedText(name, entitiesName string) (formatted, *apiError) {
	text := p.values[name]
	if len(text) > maxRawText {
		return formatted{}, badRequest("text is too long")
	}
	result := formatted{text: text}
	mode := strings.ToLower(p.values["parse_mode"])
	if mode == "" || mode == "none" {
		var err *apiError
		result.entities, err = givenEntities(p.values[entitiesName], utf16Length(text))
		return result.normalize(), err
	}
	parser, known := parsers[mode]
	if !known {
		return formatted{}, badRequest("unsupported parse_mode")
	}
	result, err := parser.parse(text)
	if err != nil {
		return formatted{}, badRequest("can't parse entities: %v", err)
	}
	return result.normalize(), nil
}

// givenEntities reads a list of entities. Those outside the text and those that
// only the server may mark are left out.
func givenEntities(list string, length int) ([]entity, *apiError) {
	if list == "" {
		return nil, nil
	}
	var given []entity
	if err := json.Unmarshal([]byte(list), &given); err != nil {
		return nil, badRequest("can't parse entities: expected an Array of MessageEntity")
	}
	return slices.DeleteFunc(given, func(e entity) bool {
		return e.Offset < 0 || e.Length <= 0 || e.Offset > length-e.Length || !slices.Contains(nesting, e.Type)
	}), nil
}
