package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"notifier/internal/httpapi"
)

// What nothing can be found by is refused: an empty list would look like all is well.
func TestNonsenseIsNotLookedFor(t *testing.T) {
	s := open(t)
	for target, pointer := range map[string]string{
		"/messages?reason=nonsense":             "/query/reason",
		"/messages?recipient=nonsense":          "/query/recipient",
		"/messages?recipient=customer:":         "/query/recipient",
		"/messages?recipient=0":                 "/query/recipient",
		"/messages?recipient=%2B5":              "/query/recipient",
		"/messages?recipient=4503599627370496":  "/query/recipient",
		"/chats/0":                              "/path/chatId",
		"/chats/4503599627370496":               "/path/chatId",
		"/chats/-99999999999999999999999999999": "/path/chatId",
		"/chats?after=nonsense":                 "/query/after",
	} {
		s.get(target).refused(http.StatusUnprocessableEntity, "invalid_request", pointer)
	}
	for _, act := range []string{"release", "revive"} {
		s.post("/chats/0/"+act, "").refused(http.StatusUnprocessableEntity, "invalid_request", "/path/chatId")
	}
	s.post("/messages/retry", `{"state":"dead","reason":"nonsense"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/reason")
	s.post("/chats/revive", `{"state":"dead","reason":"nonsense"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/reason")
	for _, target := range []string{"/messages?reason=expired&recipient=customer:c%201", "/messages?recipient=-100500", "/chats/-4503599627370495"} {
		s.get(target).want(http.StatusOK)
	}
}

func TestBlankNamesAreRefused(t *testing.T) {
	s := open(t)
	s.post("/orders", order("A-1001", " ")).refused(http.StatusUnprocessableEntity, "invalid_request", "/number")
	s.post("/orders", order("c-17", ` \t\u00a0`)).refused(http.StatusUnprocessableEntity, "invalid_request", "/customer/id")
	s.post("/messages", `{"customerId":" ","text":"x"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/customerId")
	s.post("/customers/%20/link", "").refused(http.StatusUnprocessableEntity, "invalid_request", "/path/customerId")
	if got := s.counts(); got != [3]int{} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

func TestPackedBodiesAreRefused(t *testing.T) {
	s := open(t)
	s.post("/orders", "\x1f\x8b\x08", "Content-Encoding: gzip").refused(http.StatusUnsupportedMediaType, "unsupported_media_type", "")
	s.post("/orders", anOrder, "Content-Encoding: identity").want(http.StatusCreated)
}

// Refusals are sentences: no Go lists, no powers of ten, no schema words.
func TestRefusalsAreInPlainWords(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder).want(http.StatusCreated)
	s.post("/orders/1/status", `{"status":"shipped"}`).want(http.StatusOK)
	for _, c := range []struct{ target, body, words string }{
		{"/orders/1/status", `{"status":"paid"}`, "order 1 is shipped: from there it can become delivered or refunded, but not paid"},
		{"/orders/1/status", `{"status":"lost"}`, "/status: must be one of placed, paid, ready, shipped, delivered, canceled, refunded"},
		{"/messages", `{"chatId":4503599627370496,"text":"x"}`, "/chatId: must be a chat id: a whole number such as 7900000001 or -100500, not 0, and of at most 52 bits"},
		{"/orders", order("7900000001", "4503599627370496"), "/customer/chatId: must be a chat id: a whole number such as 7900000001 or -100500, not 0, and of at most 52 bits"},
		{"/orders", order(`"totalCents":2500`, `"totalCents":-1`), "/totalCents: must be at least 0"},
		{"/orders", order("Anna", strings.Repeat("x", 201)), "/customer/name: must have at most 200 characters"},
		{"/messages", `{"chatId":1,"text":"x","notBefore":"tomorrow"}`, "/notBefore: must be a time such as 2026-11-30T15:04:05Z"},
		{"/messages?limit=0", "", "/query/limit: must be at least 1"},
		{"/orders/x", "", "/path/orderId: must be a whole number in plain digits"},
	} {
		r := s.get
		if c.body != "" {
			r = func(target string) reply { return s.post(target, c.body) }
		}
		if got := r(c.target).field("detail"); got != c.words {
			t.Errorf("%s %s: %q, want %q", c.target, c.body, got, c.words)
		}
	}
}

// What is wrong inside a payload is named; in a plain text there is nothing inside.
func TestContentErrorsNameTheField(t *testing.T) {
	pointer := ""
	s := open(t, func(c *httpapi.Config) {
		c.CheckText = func(string, json.RawMessage) error {
			return &httpapi.ContentError{Pointer: pointer, Detail: "is wrong"}
		}
	})
	for _, c := range []struct{ from, body, want string }{
		{"/payload/locale", `{"chatId":1,"type":"Text","payload":{"text":"x"}}`, "/payload/locale"},
		{"/type", `{"chatId":1,"type":"Txt","payload":{"text":"x"}}`, "/type"},
		{"", `{"chatId":1,"type":"Text","payload":{"text":"x"}}`, "/payload"},
		{"/payload/text", `{"chatId":1,"text":"x"}`, "/text"},
	} {
		pointer = c.from
		s.post("/messages", c.body).refused(http.StatusUnprocessableEntity, "invalid_text", c.want)
	}
}
