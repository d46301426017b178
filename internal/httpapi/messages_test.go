package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"notifier/internal/database"
)

func TestSendingMessages(t *testing.T) {
	s := open(t)
	r := s.post("/messages", `{"chatId":-100500,"text":"hello","notBefore":"2026-03-01T12:00:00+02:00","expiresAt":"2026-03-02T00:00:00Z","onUncertain":"hold"}`).
		want(http.StatusCreated)
	want := `{"messageId":1,"recipient":"-100500","type":"Text","payload":{"text":"hello"},"state":"pending","failures":0,` +
		`"createdAt":"2026-03-01T09:00:00Z","notBefore":"2026-03-01T10:00:00Z","expiresAt":"2026-03-02T00:00:00Z","onUncertain":"hold"}`
	if got := strings.TrimSpace(string(r.body)); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	if got := r.header.Get("Location"); got != "/messages/1" {
		t.Errorf("location %q", got)
	}
	r = s.post("/messages", `{"customerId":"c-1","type":"OrderPaid","payload":{"number":"A-1"}}`).want(http.StatusCreated)
	if r.field("recipient") != "customer:c-1" || r.field("customerId") != "c-1" {
		t.Errorf("to a customer: %s", r.body)
	}
	shown := s.get("/messages/1").want(http.StatusOK)
	if !strings.Contains(string(shown.body), `"attempts":[]`) {
		t.Errorf("shown %s", shown.body)
	}
	if got := s.get("/messages/2/explain").want(http.StatusOK); got.field("state") != "pending" || got.field("text") == "" {
		t.Errorf("explained %s", got.body)
	}
	s.get("/messages/9/explain").refused(http.StatusNotFound, "not_found", "")
}

func TestMessagesThatCannotBeMeant(t *testing.T) {
	s := open(t)
	for _, c := range []struct{ code, pointer, body string }{
		{"invalid_request", "/chatId", `{"text":"x"}`},
		{"invalid_request", "/chatId", `{"chatId":0,"text":"x"}`},
		{"invalid_request", "/chatId", `{"chatId":"@shop","text":"x"}`},
		{"invalid_request", "/customerId", `{"chatId":1,"customerId":"c","text":"x"}`},
		{"invalid_request", "/text", `{"chatId":1,"text":"x","type":"Text","payload":{"text":"x"}}`},
		{"invalid_request", "/type", `{"chatId":1,"payload":{"text":"x"}}`},
		{"invalid_request", "/payload", `{"chatId":1,"type":"Text"}`},
		{"invalid_request", "/payload", `{"chatId":1,"type":"Text","payload":[]}`},
		{"invalid_request", "/payload", `{"chatId":1,"type":"Text","payload":{"text":"` + strings.Repeat("x", 262144) + `"}}`},
		{"invalid_text", "/text", `{"chatId":1,"text":"unsendable"}`},
		{"invalid_text", "/payload", `{"chatId":1,"type":"Text","payload":{"html":"unsendable"}}`},
		{"invalid_request", "/notBefore", `{"chatId":1,"text":"x","notBefore":"tomorrow"}`},
		{"invalid_request", "/expiresAt", `{"chatId":1,"text":"x","expiresAt":1772355600}`},
		{"invalid_request", "/expiresAt", `{"chatId":1,"text":"x","expiresAt":"2026-03-01T08:59:59Z"}`},
		{"invalid_request", "/expiresAt", `{"chatId":1,"text":"x","notBefore":"2026-03-03T00:00:00Z","expiresAt":"2026-03-02T00:00:00Z"}`},
		{"invalid_request", "/onUncertain", `{"chatId":1,"text":"x","onUncertain":"forget"}`},
	} {
		s.post("/messages", c.body).refused(http.StatusUnprocessableEntity, c.code, c.pointer)
	}
	if got := s.counts(); got != [3]int{} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

func TestActingOnMessages(t *testing.T) {
	s := open(t)
	s.post("/messages", `{"chatId":701,"text":"x"}`).want(http.StatusCreated)
	if r := s.post("/messages/1/cancel", "").want(http.StatusOK); r.field("state") != "canceled" || r.field("reason") != "canceled" {
		t.Errorf("canceled %s", r.body)
	}
	s.post("/messages/1/send-now", "{}").refused(http.StatusConflict, "message_state", "")
	if r := s.post("/messages/1/retry", `{"force":true}`).want(http.StatusOK); r.field("state") != "pending" {
		t.Errorf("retried %s", r.body)
	}
	s.post("/messages/1/send-now", "").want(http.StatusOK)
	s.post("/messages/1/cancel", `{"force":true}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/force")
	s.post("/messages/2/cancel", "").refused(http.StatusNotFound, "not_found", "")
}

// Field case OB-10, as far as the API goes: a retry for a dead chat is refused in words, until
// the chat is revived; twice at once is once.
func TestOB10RetryForADeadChat(t *testing.T) {
	s := open(t)
	s.post("/messages", `{"chatId":701,"text":"x"}`).want(http.StatusCreated)
	s.sql(`INSERT OR REPLACE INTO notifier_recipients (channel, address, state, reason, detail, since) VALUES ('telegram', '701', 'dead', 'blocked', 'Forbidden: bot was blocked by the user', 1772355600000)`)
	s.sql(`UPDATE outbox SET state = 'dead', reason = 'chat_dead', ended_at = 1772355600000`)

	chat := s.get("/chats/701").want(http.StatusOK)
	want := `{"chatId":701,"state":"dead","reason":"blocked","detail":"Forbidden: bot was blocked by the user","since":"2026-03-01T09:00:00Z"}`
	if got := strings.TrimSpace(string(chat.body)); got != want {
		t.Errorf("chat\n%s\nwant\n%s", got, want)
	}
	if r := s.post("/messages", `{"chatId":701,"text":"y"}`).want(http.StatusCreated); r.field("state") != "dead" || r.field("reason") != "chat_dead" {
		t.Errorf("new message %s", r.body)
	}
	s.post("/messages/1/retry", "").refused(http.StatusConflict, "chat_dead", "")
	if r := s.get("/chats?state=dead").want(http.StatusOK); r.field("items", 0, "chatId") != "701" {
		t.Errorf("dead chats %s", r.body)
	}
	if r := s.post("/chats/701/revive", "").want(http.StatusOK); r.field("state") != "open" {
		t.Errorf("revived %s", r.body)
	}
	for range 2 {
		if r := s.post("/messages/1/retry", "").want(http.StatusOK); r.field("state") != "pending" || r.field("failures") != "0" {
			t.Errorf("retried %s", r.body)
		}
	}
	if got := s.counts()[1]; got != 2 {
		t.Errorf("%d messages", got)
	}
}

func TestChatsAndTheSender(t *testing.T) {
	s := open(t)
	if r := s.get("/chats/-42").want(http.StatusOK); r.field("state") != "open" || r.field("chatId") != "-42" {
		t.Errorf("unknown chat %s", r.body)
	}
	s.post("/chats/42/release", "").want(http.StatusOK)
	s.get("/chats/x").refused(http.StatusUnprocessableEntity, "invalid_request", "/path/chatId")
	s.get("/chats?state=lost").refused(http.StatusUnprocessableEntity, "invalid_request", "/query/state")
	for _, step := range []struct{ action, state string }{{"pause", "paused"}, {"pause", "paused"}, {"resume", "running"}, {"release", "running"}} {
		if r := s.post("/sender/"+step.action, "").want(http.StatusOK); r.field("state") != step.state {
			t.Errorf("%s: %s", step.action, r.body)
		}
		if r := s.get("/sender").want(http.StatusOK); r.field("state") != step.state {
			t.Errorf("after %s: %s", step.action, r.body)
		}
	}
}

func TestTheSenderSaysWhichProcessSends(t *testing.T) {
	s := open(t)
	s.post("/messages", `{"chatId":701,"text":"x"}`).want(http.StatusCreated)
	if got := s.get("/sender").want(http.StatusOK); string(got.body) != `{"state":"running","process":null}`+"\n" {
		t.Errorf("without a sender: %s", got.body)
	}
	if got := s.get("/messages/1/explain").field("text"); !strings.Contains(got.(string), "no process sends") {
		t.Errorf("explained without a sender: %s", got)
	}
	lock, err := s.db.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release() //nolint:errcheck // the test is over
	if got := s.get("/sender").want(http.StatusOK).field("process", "pid"); got != fmt.Sprint(os.Getpid()) {
		t.Errorf("with a sender: process %v", got)
	}
	if got := s.get("/messages/1/explain").field("text"); strings.Contains(got.(string), "no process sends") {
		t.Errorf("explained with a sender: %s", got)
	}
}

func TestMessagesAreListedByWhatTheyAre(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder).want(http.StatusCreated)
	s.post("/messages", `{"chatId":701,"text":"x"}`).want(http.StatusCreated)
	s.post("/messages", `{"chatId":701,"text":"y"}`).want(http.StatusCreated)
	s.post("/messages/2/cancel", "").want(http.StatusOK)
	for query, want := range map[string]string{
		"orderId=1":                     "1",
		"recipient=7900000001":          "1",
		"recipient=customer:c-17":       "1",
		"recipient=701":                 "3,2",
		"state=canceled":                "2",
		"state=canceled&reason=stopped": "",
		"recipient=701&after=3":         "2",
		"limit=1":                       "3",
		"orderId=2":                     "",
	} {
		r := s.get("/messages?" + query).want(http.StatusOK)
		var ids []string
		items, _ := r.field("items").([]any)
		for i := range items {
			ids = append(ids, fmt.Sprint(r.field("items", i, "messageId")))
		}
		if got := strings.Join(ids, ","); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func (s *shop) sql(queries ...string) {
	s.t.Helper()
	err := s.db.Write(context.Background(), func(tx database.Tx) error {
		for _, query := range queries {
			if _, err := tx.Exec(query); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}
