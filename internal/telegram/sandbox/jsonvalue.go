package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// jsonObject reads a JSON object among the parameters as the Bot API server
// does: numbers may be written as strings and the other way round, booleans may
// not, and null is no value of either. Its errors are Telegram's words.
type jsonObject map[string]json.RawMessage

// errNoObject means that a JSON value is not an object.
var errNoObject = errors.New("no object")

// parseObject reads an object; it fails with errNoObject for another value.
func parseObject(raw []byte) (jsonObject, error) {
	var o jsonObject
	if kindOfJSON(raw) != "Object" {
		return nil, errNoObject
	}
	err := json.Unmarshal(raw, &o)
	return o, err
}

// kindOfJSON names the type of a JSON value as the server does.
func kindOfJSON(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '{':
		return "Object"
	case '[':
		return "Array"
	case '"':
		return "String"
	case 't', 'f':
		return "Boolean"
	case 'n':
		return "Null"
	default:
		return "Number"
	}
}

func fieldError(name, format string, args ...any) error {
	return telegramErrorf("Field \"%s\" "+format, append([]any{name}, args...)...)
}

func missingField(name string) error {
	return telegramErrorf("Can't find field \"%s\"", name)
}

func (o jsonObject) has(name string) bool { return o[name] != nil }

// text reads an optional string.
func (o jsonObject) text(name string) (string, error) {
	if !o.has(name) {
		return "", nil
	}
	return o.requiredText(name)
}

func (o jsonObject) requiredText(name string) (string, error) {
	raw := o[name]
	switch kindOfJSON(raw) {
	case "":
		return "", missingField(name)
	case "String":
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case "Number":
		return string(bytes.TrimSpace(raw)), nil
	default:
		return "", fieldError(name, "must be of type String")
	}
}

// flag reads an optional boolean.
func (o jsonObject) flag(name string) (bool, error) {
	if !o.has(name) {
		return false, nil
	}
	if kindOfJSON(o[name]) != "Boolean" {
		return false, fieldError(name, "must be of type Boolean")
	}
	return bytes.HasPrefix(bytes.TrimSpace(o[name]), []byte("t")), nil
}

// integer reads an optional whole number of 32 bits, zero without one.
func (o jsonObject) integer(name string) (int, error) {
	if !o.has(name) {
		return 0, nil
	}
	return o.requiredInteger(name)
}

func (o jsonObject) requiredInteger(name string) (int, error) {
	n, err := o.requiredLong(name)
	if err == nil && (n > math.MaxInt32 || n < math.MinInt32) {
		return 0, fieldError(name, "must be a valid Number")
	}
	return int(n), err
}

// requiredLong reads a whole number of 64 bits.
func (o jsonObject) requiredLong(name string) (int64, error) {
	switch kindOfJSON(o[name]) {
	case "":
		return 0, missingField(name)
	case "String", "Number":
	default:
		return 0, fieldError(name, "must be a Number")
	}
	text, err := o.requiredText(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, fieldError(name, "must be a valid Number")
	}
	return n, nil
}

// requiredObject reads an object.
func (o jsonObject) requiredObject(name string) (jsonObject, error) {
	if !o.has(name) {
		return nil, missingField(name)
	}
	if kindOfJSON(o[name]) != "Object" {
		return nil, fieldError(name, "must be of type Object")
	}
	return parseObject(o[name])
}

// list reads an optional array.
func (o jsonObject) list(name string) ([]json.RawMessage, error) {
	if !o.has(name) {
		return nil, nil
	}
	if kindOfJSON(o[name]) != "Array" {
		return nil, fieldError(name, "must be of type Array")
	}
	var list []json.RawMessage
	err := json.Unmarshal(o[name], &list)
	return list, err
}
