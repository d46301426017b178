package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestValueDoesNotPrintItself(t *testing.T) {
	s := New("1:hush\n")
	var out bytes.Buffer
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		fmt.Fprintf(&out, format, s)
		fmt.Fprintf(&out, format, &s)
		fmt.Fprintf(&out, format, struct{ Token Value }{s})
	}
	fmt.Fprint(&out, s, s.String(), s.GoString())
	if err := json.NewEncoder(&out).Encode(map[string]any{"a": s, "b": &s, "c": map[Value]int{s: 1}}); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", s, "options", struct{ S Value }{s})
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", s, "options", struct{ S Value }{s})
	if strings.Contains(out.String(), "hush") || strings.Contains(fmt.Sprintf("%x", "hush"), out.String()) {
		t.Error(out.String())
	}
	if s.Reveal() != "1:hush" {
		t.Errorf("the newline is kept: %q", s.Reveal())
	}
}
