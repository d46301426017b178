package text

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"notifier/internal/orders"
)

// CheckNew is check for a message that its writer can still mend: what Render leaves alone or makes
// do with – a field that nobody reads, a language or a currency that is none – is refused too. Its
// error is a *Error that names the field.
func (r *Renderer) CheckNew(messageType string, payload json.RawMessage) error {
	shape, known := shapeOf(messageType)
	if !known {
		return at("/type", "must be one of "+strings.Join(append([]string{orders.TypeText}, orderTypes...), ", "))
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return templateError("the payload is not valid JSON")
	}
	if e := checkShape(tree, shape, "/payload"); e != nil {
		return e
	}
	return r.check(messageType, payload)
}

// shapeOf is the struct that a payload of this type is read into.
func shapeOf(messageType string) (reflect.Type, bool) {
	switch {
	case messageType == orders.TypeText:
		return reflect.TypeFor[ownText](), true
	case slices.Contains(orderTypes, messageType):
		return reflect.TypeFor[orders.Payload](), true
	case slices.Contains(replyTypes, messageType):
		return reflect.TypeFor[orders.ReplyPayload](), true
	}
	return nil, false
}

// checkShape holds a JSON value against the type it is to be read into. null is what is not there.
func checkShape(value any, shape reflect.Type, pointer string) *Error {
	if shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	fits := true
	switch v := value.(type) {
	case nil:
	case map[string]any:
		if fits = shape.Kind() == reflect.Struct; fits {
			return checkMembers(v, shape, pointer)
		}
	case []any:
		if fits = shape.Kind() == reflect.Slice; fits {
			for i, inner := range v {
				if e := checkShape(inner, shape.Elem(), pointer+"/"+strconv.Itoa(i)); e != nil {
					return e
				}
			}
		}
	case json.Number:
		_, err := strconv.ParseInt(v.String(), 10, 64)
		fits = err == nil && shape.Kind() == reflect.Int64
	case string:
		fits = shape.Kind() == reflect.String
	case bool:
		fits = shape.Kind() == reflect.Bool
	}
	if !fits {
		return at(pointer, "must be "+typeWords(shape.Kind().String()))
	}
	return nil
}

func checkMembers(object map[string]any, shape reflect.Type, pointer string) *Error {
	members := map[string]reflect.Type{}
	for i := range shape.NumField() {
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		members[name] = shape.Field(i).Type
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		here := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		inner, known := members[name]
		if !known {
			return at(here, "is not a field of this payload; those are "+strings.Join(slices.Sorted(maps.Keys(members)), ", "))
		}
		if e := checkShape(object[name], inner, here); e != nil {
			return e
		}
		if s, ok := object[name].(string); ok && s != "" {
			if words := wrongWord(name, s); words != "" {
				return at(here, words)
			}
		}
	}
	return nil
}

// aLocale is a language tag, as customers have.
var aLocale = regexp.MustCompile(`^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$`)

// maxLocale is the longest language tag.
const maxLocale = 35

// wrongWord says what is wrong with a value that has a form.
func wrongWord(member, value string) string {
	switch {
	case member == "locale" && (len(value) > maxLocale || !aLocale.MatchString(value)):
		return "must be a language tag such as en or pt-BR"
	case member == "currency" && !currency.IsValid(value):
		return "must be an ISO 4217 code such as EUR"
	}
	return ""
}

func at(pointer, detail string) *Error {
	e := templateError(detail)
	e.pointer = pointer
	return e
}
