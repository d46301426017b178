package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// shownJSON is JSON that somebody else may have written into the database. SQLite takes payloads
// that Go and other readers would not: what is broken in them is replaced in the answer, and stays
// as it is in the row.
type shownJSON json.RawMessage

// Schema describes it to huma.
func (shownJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON implements json.Marshaler.
func (s shownJSON) MarshalJSON() ([]byte, error) {
	sound := []byte(strings.ToValidUTF8(string(s), "\uFFFD"))
	if !json.Valid(sound) {
		return json.Marshal(string(sound)) // as a text it can at least be read
	}
	return wholeCharacters(sound), nil
}

// UnmarshalJSON implements json.Unmarshaler: a first answer is read again, as it was told.
func (s *shownJSON) UnmarshalJSON(b []byte) error {
	*s = append((*s)[:0], b...)
	return nil
}

// wholeCharacters replaces escapes in sound JSON that stand for half a character: to many readers
// they make the whole answer unreadable.
func wholeCharacters(text []byte) []byte {
	if !loneSurrogate(text) {
		return text
	}
	text = bytes.Clone(text)
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		size := escapeSize(text[i:])
		if size == 0 {
			size = copy(text[i:], `\ufffd`)
		}
		i += size - 1
	}
	return text
}

// escapeSize is how many bytes the escape at the beginning of b has, both halves of a pair
// together; 0 for half a character.
func escapeSize(b []byte) int {
	unit, isUnit := escapedUnit(b)
	switch {
	case !isUnit:
		return 2
	case unit < 0xD800 || unit > 0xDFFF:
		return 6
	}
	low, paired := escapedUnit(b[6:])
	if unit >= 0xDC00 || !paired || low < 0xDC00 || low > 0xDFFF {
		return 0
	}
	return 12
}
