package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/outbox"
)

func TestClassifyDoubts(t *testing.T) {
	for reason, list := range map[string]string{
		outbox.ReasonChatNotFound: "chat not found|PEER_ID_INVALID|CHANNEL_PRIVATE|chat_id is empty|USER_DELETED|" +
			"group is deactivated|have no access to the user",
		outbox.ReasonNoRights: "not enough rights|have no rights to send|no write access|need administrator rights|" +
			"CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|CHAT_ADMIN_REQUIRED|CHAT_SEND_PLAIN_FORBIDDEN|CHAT_GUEST_SEND_FORBIDDEN|" +
			"USER_RESTRICTED|ALLOW_PAYMENT_REQUIRED|PRIVACY_PREMIUM_REQUIRED",
	} {
		for _, words := range strings.Split(list, "|") {
			for _, form := range []string{words, strings.ToUpper(words), strings.ToLower(words), "Bad Request: " + words + "_10 to you"} {
				a := classify(no(400, form))
				if a.Verdict != outbox.ChatDoubtful || a.Reason != reason {
					t.Errorf("%q: got %s/%s, want %s", form, a.Verdict, a.Reason, reason)
				}
			}
		}
	}
}

func TestClassifyDeaths(t *testing.T) {
	for words, want := range map[string]string{
		"Forbidden: bot was blocked by the user":                 outbox.RecipientBlocked,
		"USER_IS_BLOCKED":                                        outbox.RecipientBlocked,
		"Forbidden: user is deactivated":                         outbox.RecipientDeactivated,
		"INPUT_USER_DEACTIVATED":                                 outbox.RecipientDeactivated,
		"Forbidden: bot was kicked from the supergroup chat":     outbox.RecipientKicked,
		"Forbidden: bot is not a member of the channel chat":     outbox.RecipientKicked,
		"Forbidden: bot can't initiate conversation with a user": outbox.RecipientNeverStarted,
		"PEER_ID_INVALID":                                        outbox.RecipientNeverStarted,
		"Forbidden: the bot can't send messages to the bot":      outbox.RecipientOther,
		"Forbidden: the group chat was deleted":                  outbox.RecipientOther,
		"":                                                       outbox.RecipientOther,
	} {
		if a := classify(no(403, words)); a.Verdict != outbox.ChatDead || a.Reason != want {
			t.Errorf("%q: got %s/%s, want %s", words, a.Verdict, a.Reason, want)
		}
	}
}

func TestClassifyWaits(t *testing.T) {
	const date = "Sun, 08 Mar 2026 12:00:00 GMT"
	for _, c := range []struct {
		name, parameter, description, header string
		want                                 time.Duration
	}{
		{"the parameter first", "7", "retry after 8", "9", 7 * time.Second},
		{"then the description", "", "Too Many Requests: retry after 8", "9", 8 * time.Second},
		{"then the header", "", "slow down", "9", 9 * time.Second},
		{"nothing", "", "", "", 0},
		{"zero is absent", "0", "retry after 8", "9", 8 * time.Second},
		{"negative is absent", "-3", "retry after -1", "9", 9 * time.Second},
		{"null is absent", "null", "", "9", 9 * time.Second},
		{"a word is absent", `"7"`, "", "9", 9 * time.Second},
		{"all absent", "0", "retry after 0", "-1", 0},
		{"fractions round up", "0.2", "", "", time.Second},
		{"fractions round up in words", "", "retry after 2.5.", "", 3 * time.Second},
		{"a full stop is no fraction", "", "Retry after 2.", "", 2 * time.Second},
		{"exponents", "1e2", "", "", 100 * time.Second},
		{"large", "8288", "", "", 8288 * time.Second},
		{"too large", "1e300", "", "", maxWait * time.Second},
		{"beyond float64", "1e999", "", "", maxWait * time.Second},
		{"too large in words", "", "retry after " + strings.Repeat("9", 400), "", maxWait * time.Second},
		{"too large in the header", "", "", strings.Repeat("9", 400), maxWait * time.Second},
		{"header with white space", "", "", " 4 ", 4 * time.Second},
		{"header as a time", "", "", "Sun, 08 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"header as a time gone by", "", "", "Sun, 08 Mar 2026 11:00:30 GMT", 0},
		{"header of nonsense", "", "", "soon", 0},
		{"header infinite", "", "", "Inf", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := fmt.Sprintf(`{"ok":false,"error_code":429,"description":%q,"parameters":{"retry_after":%s}}`, c.description, c.parameter)
			if c.parameter == "" {
				body = fmt.Sprintf(`{"ok":false,"error_code":429,"description":%q}`, c.description)
			}
			f := got(429, body)
			f.RetryAfter, f.Date = c.header, date
			if a := classify(f); a.Verdict != outbox.Wait || a.Wait != c.want {
				t.Errorf("got %s %v, want %v", a.Verdict, a.Wait, c.want)
			}
		})
	}
}
