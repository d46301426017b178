package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// decode reads a payload into a struct. Unknown members are left alone, as a foreign writer may
// keep notes of its own there. Text that is not Unicode is refused: the JSON decoder would put a
// replacement character in its place and say nothing.
func decode(payload json.RawMessage, into any) error {
	if !utf8.Valid(payload) {
		return templateError("the payload is not valid UTF-8")
	}
	err := json.Unmarshal(payload, into)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return templateError(fmt.Sprintf("the payload's %s must be %s", mistyped.Field, typeWords(mistyped.Type.Kind().String())))
	case errors.As(err, &mistyped):
		return templateError("the payload is not a JSON object")
	case err != nil:
		return templateError("the payload is not valid JSON")
	case hasLoneSurrogate(payload):
		return templateError("the payload holds half a character (a lone surrogate)")
	}
	return nil
}

func typeWords(kind string) string {
	switch kind {
	case "int64":
		return "a whole number"
	case "slice":
		return "a list"
	case "struct":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a string"
}

// hasLoneSurrogate looks at the escapes of valid JSON, where a backslash stands only in strings.
func hasLoneSurrogate(payload []byte) bool {
	for i := 0; i < len(payload); i++ {
		if payload[i] != '\\' {
			continue
		}
		unit, ok := unicodeEscape(payload[i:])
		if !ok || unit < 0xd800 || unit > 0xdfff {
			i++ // past the escaped character
			continue
		}
		low, ok := unicodeEscape(payload[i+6:])
		if unit > 0xdbff || !ok || low < 0xdc00 || low > 0xdfff {
			return true
		}
		i += 11
	}
	return false
}

func unicodeEscape(b []byte) (unit uint64, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit, err == nil
}
