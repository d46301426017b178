package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"
)

// adoptHuma sets the package variables through which huma is told how its errors look and that
// field names are exact. They are the same for every API of this process.
var adoptHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(status, message, errs)
	}
	huma.NewErrorWithContext = func(_ huma.Context, status int, message string, errs ...error) huma.StatusError {
		return fromHuma(status, message, errs)
	}
})

// newHuma puts huma on a mux: typed handlers that check their input and describe themselves.
// Its own pages stay closed, since they load scripts from elsewhere.
func newHuma(mux *http.ServeMux, version string) huma.API {
	adoptHuma()
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	return humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "notifier", Version: version},
		},
		Formats:                      map[string]huma.Format{"application/json": format, "json": format}, // the second is for …+json
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	})
}

// register adds an operation whose errors become failures.
func register[I, O any](a *API, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1 // the body has been read: see readRequest
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, a.failureOf(ctx, op, err)
		}
		return out, nil
	})
}

// unmarshal is asked twice by huma: for a tree to check, then for the input itself.
func unmarshal(body []byte, into any) error {
	tree, ok := into.(*any)
	if !ok {
		return json.Unmarshal(body, into)
	}
	var err error
	*tree, err = parse(body, forLocation)
	return err
}

// fromHuma turns what huma found wrong into a failure.
func fromHuma(status int, message string, errs []error) *Failure {
	f := failure(status, codeInvalid, message)
	switch status {
	case http.StatusBadRequest:
		f.Code = codeBodyRequired
	case http.StatusInternalServerError:
		f.Code = codeInternal
	}
	for _, err := range errs[:min(len(errs), maxErrors)] {
		f.Errors = append(f.Errors, fieldError(err))
	}
	if len(f.Errors) > 0 {
		f.Detail = describe(f.Errors[0].Pointer, f.Errors[0].Detail)
	}
	return f
}

// maxErrors is how many wrong fields are named; a body can have more of them than anybody reads.
const maxErrors = 100

func fieldError(err error) FieldError {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return FieldError{Detail: err.Error()}
	}
	e := FieldError{Detail: d.ErrorDetail().Message, Pointer: pointerOf(d.ErrorDetail().Location)}
	if name, missing := missingField(e.Detail); missing {
		return FieldError{Detail: "is required", Pointer: e.Pointer + "/" + escapePointer(name)}
	}
	e.Detail = plainly(e.Detail)
	return e
}

// missingField is the name in huma's words for a required field that is not there.
func missingField(detail string) (string, bool) {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	rest, ok := strings.CutPrefix(detail, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, after)
}

// keyEscape says how keys are changed while a body is parsed.
type keyEscape string

// forLocation makes keys fit for huma's locations, in which '.' and '[' separate.
const forLocation keyEscape = "location"

// Stand-ins for characters with a meaning in locations. Nobody names a field so; if somebody did,
// the pointer to it would be a little off.
const dotStandIn, bracketStandIn = "\x01", "\x02"

func (e keyEscape) apply(key string) string {
	if e != forLocation {
		return key
	}
	return strings.NewReplacer(".", dotStandIn, "[", bracketStandIn).Replace(key)
}

// pointerOf turns huma's location (body.items[0].name) into a JSON pointer (/items/0/name).
func pointerOf(location string) string {
	where, rest, _ := strings.Cut(location, ".")
	root, index, indexed := strings.Cut(where, "[")
	pointer := ""
	if root != "body" {
		pointer = "/" + root
	}
	if indexed { // the body is a list itself
		pointer += "/" + strings.TrimSuffix(index, "]")
	}
	if rest == "" {
		return pointer
	}
	for _, part := range strings.Split(rest, ".") {
		for i, word := range strings.Split(part, "[") {
			if i > 0 {
				word = strings.TrimSuffix(word, "]")
			}
			word = strings.NewReplacer(dotStandIn, ".", bracketStandIn, "[").Replace(word)
			pointer += "/" + escapePointer(word)
		}
	}
	return pointer
}

// escapePointer writes a name as a reference token of RFC 6901.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
