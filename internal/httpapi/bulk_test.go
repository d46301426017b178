package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"notifier/internal/httpapi"
)

func TestBulkRetryAndReviveWithADryRun(t *testing.T) {
	s := open(t)
	for i := range 3 {
		s.post("/messages", fmt.Sprintf(`{"chatId":70%d,"text":"hello"}`, i)).want(http.StatusCreated)
	}
	s.sql("UPDATE outbox SET state = 'dead', reason = 'expired', ended_at = 1700000000000 + 1000 * id",
		"UPDATE outbox SET reason = 'too_many_attempts' WHERE id = 3",
		"INSERT INTO notifier_recipients (channel, address, state, reason, since) VALUES ('telegram', '801', 'dead', 'blocked', 1000), ('telegram', '802', 'dead', 'stopped', 1000)")
	for _, c := range []struct {
		path, body, count string
	}{
		{"/messages/retry", `{"state":"dead","dryRun":true}`, "3"},
		{"/messages/retry", `{"state":"dead","reason":"expired","dryRun":true}`, "2"},
		{"/messages/retry", `{"state":"dead","since":"2023-11-14T23:13:22+01:00","dryRun":true}`, "2"},
		{"/messages/retry", `{"state":"uncertain"}`, "0"},
		{"/messages/retry", `{"state":"dead","reason":"expired"}`, "2"},
		{"/messages/retry", `{"state":"dead"}`, "1"},
		{"/messages/retry", `{"state":"dead"}`, "0"},
		{"/chats/revive", `{"state":"dead","dryRun":true}`, "1"}, // whoever said stop has to start again
		{"/chats/revive", `{"state":"dead","reason":"blocked"}`, "1"},
		{"/chats/revive", `{"state":"dead"}`, "0"},
	} {
		if got := s.post(c.path, c.body).want(http.StatusOK).field("count"); got != c.count {
			t.Errorf("%s %s: count %v, want %s", c.path, c.body, got, c.count)
		}
	}
	if got := s.get("/messages?state=pending").field("items"); len(got.([]any)) != 3 {
		t.Errorf("pending: %v", got)
	}
	s.post("/messages/retry", `{"state":"sent"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/state")
	s.post("/messages/retry", `{}`).refused(http.StatusUnprocessableEntity, "invalid_request", "")
	s.post("/messages/retry", `{"state":"dead","since":"yesterday"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/since")
	s.post("/chats/revive", `{"state":"dead","dryrun":true}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/dryrun")
	first := s.post("/messages/retry", `{"state":"dead"}`, "Idempotency-Key: k").want(http.StatusOK)
	if again := s.post("/messages/retry", `{"state":"dead"}`, "Idempotency-Key: k").want(http.StatusOK); string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %s", again.body)
	}
}

func TestAnOrderWithoutAChatSaysWhereToConnectOne(t *testing.T) {
	name := ""
	s := open(t, func(c *httpapi.Config) { c.BotName = func() string { return name } })
	const alone = `{"number":"A-1","customer":{"id":"c 1/ä"},"currency":"EUR","totalCents":1}`
	if got := s.post("/orders", alone, "Idempotency-Key: k").want(http.StatusCreated).field("connectUrl"); got != nil {
		t.Errorf("before the bot's name is known: %v", got)
	}
	r := s.post("/customers/c%201%2F%C3%A4/link", "").refused(http.StatusServiceUnavailable, "bot_name_unknown", "")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	name = "shop_bot"
	again := s.post("/orders", alone, "Idempotency-Key: k").want(http.StatusCreated)
	url, _ := again.field("connectUrl").(string)
	if !strings.HasPrefix(url, "https://t.me/shop_bot?start=") || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a replay says %s", again.body)
	}
	link := s.post("/customers/c%201%2F%C3%A4/link", "").want(http.StatusOK)
	if other, _ := link.field("connectUrl").(string); !strings.HasPrefix(other, "https://t.me/shop_bot?start=") || other == url {
		t.Errorf("link says %s", link.body)
	}
	if got := link.field("expiresAt"); got != "2026-03-08T09:00:00Z" {
		t.Errorf("expires at %v", got)
	}
	s.post("/customers/new-one/link", `{}`).want(http.StatusOK)
	s.post("/customers/"+strings.Repeat("x", 201)+"/link", "").refused(http.StatusUnprocessableEntity, "invalid_request", "")
	linked := s.post("/orders", anOrder).want(http.StatusCreated)
	if strings.Contains(string(linked.body), "connectUrl") {
		t.Errorf("with a chat: %s", linked.body)
	}
}
