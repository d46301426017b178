package markup

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// verdict is what tdlib makes of one text: how it is parsed, what is stored of
// it, and what is stored when the server marks what it finds by itself.
type verdict struct {
	Mode       string   `json:"mode"`
	Input      string   `json:"input"`
	Error      string   `json:"error"`       // of the parser
	FixedError string   `json:"fixed_error"` // of what comes after it
	FixedText  string   `json:"fixed_text"`
	Fixed      []Entity `json:"fixed"`
	Found      []Entity `json:"found"` // nil means as Fixed
}

// verdicts reads testdata/tdlib.jsonl: texts thrown by a generator, run through
// parse_html, parse_markdown_v2 or parse_markdown and fix_formatted_text of
// tdlib 022d602 (td/telegram/MessageEntity.cpp).
func verdicts(t *testing.T) []verdict {
	t.Helper()
	data, err := os.ReadFile("testdata/tdlib.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var list []verdict
	for line := range bytes.Lines(data) {
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// judge gives our verdict on the same text.
func (v verdict) judge() verdict {
	ours := verdict{Mode: v.Mode, Input: v.Input}
	parsed, err := Parse(v.Mode, v.Input)
	if err != nil {
		ours.Error = err.Error()
		return ours
	}
	fixed, err := parsed.Fix(Rules{})
	if err != nil {
		ours.FixedError = err.Error()
		return ours
	}
	found, err := parsed.Fix(Rules{Find: true})
	if err != nil {
		ours.FixedError = "with what is found: " + err.Error()
		return ours
	}
	ours.FixedText, ours.Fixed = fixed.Text, fixed.Entities
	if !cmp.Equal(fixed.Entities, found.Entities) {
		ours.Found = found.Entities
	}
	return ours
}

func TestAgreesWithTdlib(t *testing.T) {
	list := verdicts(t)
	wrong := 0
	for _, v := range list {
		if len(v.Fixed) == 0 {
			v.Fixed = nil
		}
		ours := v.judge()
		if len(ours.Fixed) == 0 {
			ours.Fixed = nil
		}
		if diff := cmp.Diff(v, ours); diff != "" {
			if wrong++; wrong <= 10 {
				t.Errorf("%s %q\n%s", v.Mode, v.Input, diff)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(list))
	}
}
