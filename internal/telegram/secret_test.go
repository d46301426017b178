package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretDoesNotPrintItself(t *testing.T) {
	s := NewSecret("1:hush\n")
	var out bytes.Buffer
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		fmt.Fprintf(&out, format, s)
		fmt.Fprintf(&out, format, &s)
		fmt.Fprintf(&out, format, struct{ Token Secret }{s})
	}
	fmt.Fprint(&out, s, s.String(), s.GoString())
	if err := json.NewEncoder(&out).Encode(map[string]any{"a": s, "b": &s, "c": map[Secret]int{s: 1}}); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", s, "options", struct{ S Secret }{s})
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", s, "options", struct{ S Secret }{s})
	if strings.Contains(out.String(), "hush") || strings.Contains(fmt.Sprintf("%x", "hush"), out.String()) {
		t.Error(out.String())
	}
	if s.Reveal() != "1:hush" {
		t.Errorf("the newline is kept: %q", s.Reveal())
	}
}

func TestBotID(t *testing.T) {
	for token, want := range map[string]string{"7900000001:AAF_x-9": "7900000001", "1:a": "1", " 2:b\n": "2"} {
		if got, err := BotID(NewSecret(token)); got != want || err != nil {
			t.Errorf("%q: got %q, %v", token, got, err)
		}
	}
	for _, token := range []string{"", ":", "1:", ":hush", "hush", "x1:hush", "1:hush!", "1:hush hush", "1:hush:hush", "-1:hush", "1:hüsh", strings.Repeat("9", 19) + ":hush"} {
		if id, err := BotID(NewSecret(token)); err == nil || id != "" || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %q, %v", token, id, err)
		}
	}
}
