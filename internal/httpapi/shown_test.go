package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever another program has written into the table, every answer about it is JSON in UTF-8, and
// the row stays as it was.
func TestBrokenUnicodeOfForeignRowsIsReplacedInAnswers(t *testing.T) {
	s := open(t)
	s.sql(`INSERT INTO outbox (recipient, type, payload, idempotency_key) VALUES
		('5', 'Text', CAST(x'7b2274657874223a22ff61c3227d' AS TEXT), CAST(x'6bff' AS TEXT)),
		('5', CAST(x'54ff' AS TEXT), '{"text":"\ud83cx\\ud800\ud83c\udfa9\udfa9"}', NULL),
		(CAST(x'637573746f6d65723aff' AS TEXT), 'Text', '{"text":"x"}', NULL)`,
		`UPDATE outbox SET detail = CAST(x'ff' AS TEXT)`)
	for _, target := range []string{"/messages?recipient=5", "/messages", "/messages/1", "/messages/2", "/messages/3", "/messages/3/explain"} {
		r := s.get(target).want(http.StatusOK)
		if !json.Valid(r.body) || !utf8.Valid(r.body) || strings.Contains(string(r.body), `\ud83cx`) {
			t.Errorf("%s: %q", target, r.body)
		}
	}
	if got := s.get("/messages/1").field("payload", "text"); got != "\uFFFDa\uFFFD" {
		t.Errorf("payload %q", got)
	}
	if got := s.get("/messages/2").field("payload", "text"); got != "\uFFFDx\\ud800🎩\uFFFD" {
		t.Errorf("payload %q", got)
	}
	canceled := s.post("/messages/1/cancel", "").want(http.StatusOK)
	if !json.Valid(canceled.body) || !utf8.Valid(canceled.body) {
		t.Errorf("canceled: %q", canceled.body)
	}
}
