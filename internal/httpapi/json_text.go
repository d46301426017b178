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
	return (&parser{d: d, escape: escape}).value()
}

type parser struct {
	d      *json.Decoder
	escape keyEscape
	// at are the keys and indexes that lead to where the parser is. A pointer is only made of them for
	// an error: made for every value, a long key above many of them would cost its length for each.
	at []any
}

// refuse refuses the value at which the parser is.
func (p *parser) refuse(detail string) error {
	pointer := ""
	for _, step := range p.at {
		switch step := step.(type) {
		case string:
			pointer += "/" + escapePointer(step)
		case int:
			pointer += "/" + strconv.Itoa(step)
		}
	}
	return invalid(pointer, detail)
}

func (p *parser) value() (any, error) {
	if len(p.at) > maxDepth {
		return nil, p.refuse(fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	}
	t, err := p.d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return p.object()
		}
		return p.array()
	case json.Number:
		if n, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return n, nil
		}
		return t, nil
	case string:
		if strings.ContainsRune(t, 0) {
			return nil, p.refuse("has a NUL character")
		}
		return t, nil
	}
	return t, nil
}

func (p *parser) object() (any, error) {
	o := map[string]any{}
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		p.at = append(p.at, key)
		if strings.ContainsRune(key, 0) {
			return nil, p.refuse("has a NUL character in its name")
		}
		key = p.escape.apply(key)
		if _, twice := o[key]; twice {
			return nil, p.refuse("is there twice")
		}
		if o[key], err = p.value(); err != nil {
			return nil, err
		}
		p.at = p.at[:len(p.at)-1]
	}
	_, err := p.d.Token()
	return o, err
}

func (p *parser) array() (any, error) {
	list := []any{}
	p.at = append(p.at, 0)
	for i := 0; p.d.More(); i++ {
		p.at[len(p.at)-1] = i
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	p.at = p.at[:len(p.at)-1]
	_, err := p.d.Token()
	return list, err
}
