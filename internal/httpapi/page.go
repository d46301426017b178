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
func (p PageInput) before() (int64, error) {
	if p.After == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil || id < 1 {
		return 0, invalid("/query/after", noCursor)
	}
	return id, nil
}

// pageOf turns what was found, one more than limit when there is more, into a page.
func pageOf[F, T any](found []F, limit int, show func(F) T, cursor func(F) string) page[T] {
	p := page[T]{Items: []T{}}
	for i, f := range found {
		if i == limit {
			p.Next = cursor(found[i-1])
			break
		}
		p.Items = append(p.Items, show(f))
	}
	return p
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

// instant shows a time in UTC, or nothing when there is none.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
