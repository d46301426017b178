package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep a body may be nested.
const maxDepth = 100

// checkJSON refuses a body that is no JSON, or JSON that a decoder would alter without a word:
// broken Unicode, keys that are there twice. It also refuses NUL, which not every store can hold.
func checkJSON(body []byte) *Failure {
	if !utf8.Valid(body) {
		return failure(http.StatusBadRequest, codeInvalidUnicode, "the body is not valid UTF-8")
	}
	var sound json.RawMessage
	if err := json.Unmarshal(body, &sound); err != nil {
		return failure(http.StatusBadRequest, codeInvalidJSON, "the body is not JSON: "+explainSyntax(err))
	}
	if loneSurrogate(body) {
		return failure(http.StatusBadRequest, codeInvalidUnicode, "a string has half of a surrogate pair (\\uD800 to \\uDFFF)")
	}
	_, err := parse(body, "")
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if err != nil {
		return failure(http.StatusBadRequest, codeInvalidJSON, "the body is not JSON: "+err.Error())
	}
	return nil
}

func explainSyntax(err error) string {
	var at *json.SyntaxError
	if errors.As(err, &at) {
		return fmt.Sprintf("%v (byte %d)", err, at.Offset)
	}
	return err.Error()
}

// loneSurrogate finds an escape in a sound JSON text that stands for half a character.
func loneSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' { // in sound JSON, backslashes are in strings only
			continue
		}
		unit, ok := escapedUnit(body[i:])
		switch {
		case !ok:
			i++ // the escaped character, which may be a backslash itself
		case unit < 0xD800 || unit > 0xDFFF:
			i += 5
		default:
			low, ok := escapedUnit(body[i+6:])
			if unit >= 0xDC00 || !ok || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		}
	}
	return false
}

// escapedUnit reads a \uXXXX at the beginning of b.
func escapedUnit(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit, err == nil
}

// parse reads a sound JSON text into maps, slices and scalars. Whole numbers written in plain
// digits that fit are int64, all others stay json.Number: to whoever wants a whole number they
// are none. Its error is a *Failure where the value cannot be accepted.
//
// With an escape, keys are changed so that they can stand in a location of huma, see pointerOf.
func parse(body []byte, escape keyEscape) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return (&parser{d, escape}).value("", 0)
}

type parser struct {
	d      *json.Decoder
	escape keyEscape
}

func (p *parser) value(pointer string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, invalid(pointer, fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	}
	t, err := p.d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return p.object(pointer, depth)
		}
		return p.array(pointer, depth)
	case json.Number:
		if n, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return n, nil
		}
		return t, nil
	case string:
		if strings.ContainsRune(t, 0) {
			return nil, invalid(pointer, "has a NUL character")
		}
		return t, nil
	}
	return t, nil
}

func (p *parser) object(pointer string, depth int) (any, error) {
	o := map[string]any{}
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		at := pointer + "/" + escapePointer(key)
		if strings.ContainsRune(key, 0) {
			return nil, invalid(at, "has a NUL character in its name")
		}
		key = p.escape.apply(key)
		if _, twice := o[key]; twice {
			return nil, invalid(at, "is there twice")
		}
		if o[key], err = p.value(at, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := p.d.Token()
	return o, err
}

func (p *parser) array(pointer string, depth int) (any, error) {
	list := []any{}
	for i := 0; p.d.More(); i++ {
		v, err := p.value(pointer+"/"+strconv.Itoa(i), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := p.d.Token()
	return list, err
}
