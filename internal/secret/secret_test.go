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

func TestN7EveryWayOfWritingASecretIsRemoved(t *testing.T) {
	const key = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	token := New("123456789:" + key)
	for text, want := range map[string]string{
		"/bot123456789:" + key + "/sendMessage":   "/bot***/sendMessage",
		"bot123456789%3A" + key:                   "bot***",
		"only " + key + " of it":                  "only *** of it",
		"a piece: " + key[3:20] + "!":             "a piece: ***!",
		"small: " + strings.ToLower(key):          "small: ***",
		"twice " + key + key:                      "twice ***",
		percentEncoded("123456789:"+key) + "&x=1": "***&x=1",
		percentEncoded(key[:12]):                  "***",
		"bot 123456789 is not " + key[:7]:         "bot 123456789 is not " + key[:7],
		"100% of it, %zz, %4":                     "100% of it, %zz, %4",
		"Bad Request: chat not found":             "Bad Request: chat not found",
		"Ünïcode “" + key + "” stays":             "Ünïcode “***” stays",
	} {
		if got := token.Scrub(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := New("1:test").Scrub("a test of 1:test"); got != "a test of ***" {
		t.Errorf("a short one: %q", got)
	}
}

func percentEncoded(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02x", text[i])
	}
	return b.String()
}
