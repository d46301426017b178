package httpapi

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// page is one piece of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next" doc:"give it as after to go on; empty at the end"`
}

// PageInput is what every list takes. It is exported, like all that inputs and bodies embed: huma
// sees no other.
type PageInput struct {
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
	After string `query:"after" doc:"next of the page before"`
}

const noCursor = "is no cursor: give the next of the page before"

// before is the cursor of lists by id: only ids below it.
func before(after string) (int64, error) {
	if after == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil || id < 1 {
		return 0, invalid("/query/after", noCursor)
	}
	return id, nil
}

const (
	// pageBytes is how large the items of a page may become before it ends early, with a cursor to go
	// on. One item more can come on top: a page has at least one.
	pageBytes = 4 << 20
	// pageStep is how many items are read at once while a page is filled.
	pageStep = 20
)

// finder finds the items of a list that come after a cursor; an empty one is the beginning.
type finder[F any] func(after string, limit int) ([]F, error)

// fill reads a page, item by item, until it has as many as were asked for or is large enough.
func fill[F, T any](in PageInput, find finder[F], show func(F) T, cursor func(F) string) (page[T], error) {
	p := page[T]{Items: []T{}}
	after, size := in.After, 0
	for {
		step := min(pageStep, in.Limit-len(p.Items)) + 1 // one more, to know whether there is more
		found, err := find(after, step)
		if err != nil {
			return p, err
		}
		for i, f := range found {
			if len(p.Items) == in.Limit || size >= pageBytes {
				p.Next = after
				return p, nil
			}
			if i == step-1 {
				break // it was only looked at
			}
			shown := show(f)
			b, err := json.Marshal(shown)
			if err != nil {
				return p, err
			}
			size += len(b)
			p.Items, after = append(p.Items, shown), cursor(f)
		}
		if len(found) < step {
			return p, nil
		}
	}
}

// object is any JSON object, kept as it is.
type object json.RawMessage

// Schema describes it to huma.
func (object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(b []byte) error {
	*o = append((*o)[:0], b...)
	return nil
}

// Times lie between these two, which are milliseconds of 13 digits since 1970: one in seconds is
// refused, and every one can be written in an answer.
var (
	earliest = time.UnixMilli(1_000_000_000_000).UTC()
	latest   = time.UnixMilli(9_999_999_999_999).UTC()
)

// checkTime refuses a time out of bounds. One that is not given is none.
func checkTime(pointer string, t *time.Time) error {
	if t == nil || !t.Before(earliest) && !t.After(latest) {
		return nil
	}
	return invalid(pointer, "must be a time from "+earliest.Format(time.DateOnly)+" to "+latest.Format(time.DateOnly))
}

// instant shows a time in UTC, or nothing when there is none.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
