package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// duration is a time.Duration that is a string such as "1.5s" in JSON.
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

func (d *duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New(`a duration must be a string such as "3s"`)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"3s\"", text)
	}
	*d = duration(parsed)
	return nil
}

// decodeStrict reads one JSON value and refuses unknown fields and anything
// after the value. Its errors are meant for the person who wrote the JSON.
func decodeStrict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return plainJSONError(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("one JSON value is expected")
	}
	return nil
}

func plainJSONError(err error) error {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		field := wrongType.Field
		if field == "" {
			field = "the body"
		}
		return fmt.Errorf("%s must be %s", field, jsonName(wrongType.Type.Kind()))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("a JSON object is expected")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// jsonName is what a Go type is in JSON.
func jsonName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	default:
		return "an object"
	}
}
