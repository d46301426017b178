package syntax

import (
	"strings"
	"testing"

	"notifier/internal/secret"
)

func TestBotID(t *testing.T) {
	for token, want := range map[string]string{"7900000001:AAF_x-9": "7900000001", "1:a": "1", " 2:b\n": "2"} {
		if got, err := BotID(secret.New(token)); got != want || err != nil {
			t.Errorf("%q: got %q, %v", token, got, err)
		}
	}
	for _, token := range []string{"", ":", "1:", ":hush", "hush", "x1:hush", "1:hush!", "1:hush hush", "1:hush:hush", "-1:hush", "1:hüsh", strings.Repeat("9", 19) + ":hush"} {
		if id, err := BotID(secret.New(token)); err == nil || id != "" || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %q, %v", token, id, err)
		}
	}
}
