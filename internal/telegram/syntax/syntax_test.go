package syntax

import (
	"math"
	"strings"
	"testing"

	"notifier/internal/secret"
)

func TestChatIDsHaveAtMost52Bits(t *testing.T) {
	for id, want := range map[int64]bool{
		1: true, -1: true, 7900000001: true, -1001234567890: true, 1<<52 - 1: true, -(1<<52 - 1): true,
		0: false, 1 << 52: false, -1 << 52: false, math.MaxInt64: false, math.MinInt64: false,
	} {
		if got := IsChatID(id); got != want {
			t.Errorf("%d: got %v", id, got)
		}
	}
}

func TestWebhookSecrets(t *testing.T) {
	for _, good := range []string{"a", "A-Za-z0-9_-", strings.Repeat("x", 256)} {
		if !IsWebhookSecret(secret.New(good)) {
			t.Errorf("%q was refused", good)
		}
	}
	for _, bad := range []string{"", "a b!", "hush.", "hushä", strings.Repeat("x", 257)} {
		if IsWebhookSecret(secret.New(bad)) {
			t.Errorf("%q was taken", bad)
		}
	}
}
