package sandbox

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLimitsOverHTTP(t *testing.T) {
	r := newRig(t, Options{})
	body := r.control(http.MethodGet, "/sandbox/limits", "", 200, nil)
	want := `{"botPerSecond":30,"chatPerSecond":1,"chatBurst":1,"groupPerMinute":20,"hold":"0s","latency":"0s","tolerance":"50ms"}`
	if body != want {
		t.Errorf("at start %s", body)
	}
	body = r.control(http.MethodPut, "/sandbox/limits", `{"chatPerSecond":0.5,"hold":"1m30s"}`, 200, nil)
	want = `{"botPerSecond":30,"chatPerSecond":0.5,"chatBurst":1,"groupPerMinute":20,"hold":"1m30s","latency":"0s","tolerance":"50ms"}`
	if body != want {
		t.Errorf("changed %s", body)
	}
	for bad, word := range map[string]string{
		`{"botPerMinute":1}`:          "botPerMinute",
		`{"hold":3}`:                  `"3s"`,
		`{"hold":"soon"}`:             "soon",
		`{"hold":"-1s"}`:              "hold",
		`{"botPerSecond":-1}`:         "botPerSecond",
		`{"botPerSecond":1.5}`:        "botPerSecond must be a whole number",
		`{"chatPerSecond":"1"}`:       "chatPerSecond",
		`{"botPerSecond":5} {}`:       "one JSON value",
		`{"botPerSecond":5,"hold":3}`: "3s",
		`[]`:                          "object",
		``:                            "object",
		`{"botPerSecond":`:            "object",
	} {
		var refusal struct{ Error string }
		r.control(http.MethodPut, "/sandbox/limits", bad, 422, &refusal)
		if !strings.Contains(refusal.Error, word) {
			t.Errorf("%s: %q does not name %s", bad, refusal.Error, word)
		}
	}
	if got := r.control(http.MethodGet, "/sandbox/limits", "", 200, nil); got != want {
		t.Errorf("a refused change left %s", got)
	}
}

func TestFaultsOverHTTP(t *testing.T) {
	r := newRig(t, Options{})
	var added struct {
		FaultID int
		Respond struct{ RetryAfter int }
	}
	r.control(http.MethodPost, "/sandbox/faults",
		`{"method":"sendMessage","chatId":7,"times":2,"probability":1,"duration":"1h","respond":{"retryAfter":3}}`, 201, &added)
	if added.FaultID != 1 || added.Respond.RetryAfter != 3 {
		t.Errorf("%+v", added)
	}
	r.refused(r.send(7), 429, "Too Many Requests: retry after 3")
	var list []struct {
		FaultID, Struck, Times int
		Duration               string
	}
	r.control(http.MethodGet, "/sandbox/faults", "", 200, &list)
	if len(list) != 1 || list[0].Struck != 1 || list[0].Times != 2 || list[0].Duration != "1h0m0s" {
		t.Errorf("%+v", list)
	}
	for bad, word := range map[string]string{
		`{"respond":{"stattus":500}}`:                 "stattus",
		`{"metod":"x","respond":{"hang":true}}`:       "metod",
		`{}`:                                          "respond",
		`{"times":0,"respond":{"hang":true}}`:         "times",
		`{"probability":0,"respond":{"hang":true}}`:   "probability",
		`{"respond":{"drop":"later"}}`:                "drop",
		`{"respond":{"delay":5,"status":500}}`:        "3s",
		`{"duration":"0s","respond":{"hang":true}}`:   "duration",
		`{"duration":"x","respond":{"hang":true}}`:    "duration",
		`{"chatId":"seven","respond":{"hang":true}}`:  "chatId",
		`{"respond":{"hang":true,"status":500}}`:      "one of",
		`{"respond":{"status":500,"body":{"a":"b"}}}`: "respond.body must be a string",
	} {
		var refusal struct{ Error string }
		r.control(http.MethodPost, "/sandbox/faults", bad, 422, &refusal)
		if !strings.Contains(refusal.Error, word) {
			t.Errorf("%s: %q does not name %s", bad, refusal.Error, word)
		}
	}
	r.control(http.MethodDelete, "/sandbox/faults", "", 204, nil)
	if got := r.control(http.MethodGet, "/sandbox/faults", "", 200, nil); got != "[]" {
		t.Errorf("%s", got)
	}
}

func TestMessagesOverHTTP(t *testing.T) {
	r := newRig(t, Options{})
	if got := r.control(http.MethodGet, "/sandbox/messages", "", 200, nil); got != "[]" {
		t.Errorf("%s", got)
	}
	r.send(7)
	r.call("sendMessage", fields{"chat_id": 8, "text": "<b>x</b>", "parse_mode": "HTML"})
	var messages []map[string]any
	r.control(http.MethodGet, "/sandbox/messages?chatId=8&wait=5s", "", 200, &messages)
	if len(messages) != 1 {
		t.Fatalf("%v", messages)
	}
	receivedAt, _ := messages[0]["receivedAt"].(string)
	if _, err := time.Parse(time.RFC3339Nano, receivedAt); err != nil {
		t.Error(err)
	}
	delete(messages[0], "receivedAt")
	want := map[string]any{
		"messageId": 2.0, "botId": 123456.0, "chatId": 8.0, "kind": "text", "text": "<b>x</b>", "visibleText": "x", "parseMode": "HTML",
	}
	if diff := cmp.Diff(want, messages[0]); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"chatId=x", "chatId=0", "wait=5", "wait=-1s", "wait=1h"} {
		r.control(http.MethodGet, "/sandbox/messages?"+query, "", 422, nil)
	}
}

func TestMessagesWait(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		start := time.Now()
		time.AfterFunc(time.Second, func() { r.send(8) })
		time.AfterFunc(2*time.Second, func() { r.send(7) })
		var messages []Message
		r.control(http.MethodGet, "/sandbox/messages?chatId=7&wait=5s", "", 200, &messages)
		if waited := time.Since(start); len(messages) != 1 || waited != 2*time.Second {
			t.Errorf("%d messages after %v", len(messages), waited)
		}
		r.control(http.MethodGet, "/sandbox/messages?chatId=9&wait=5s", "", 200, &messages)
		if waited := time.Since(start); len(messages) != 0 || waited != 7*time.Second {
			t.Errorf("%d messages after %v", len(messages), waited)
		}
	})
}

func TestCallsOverHTTP(t *testing.T) {
	r := newRig(t, Options{})
	r.call("getme", nil)
	r.call("sendMessage", fields{"chat_id": "7", "text": "x"})
	r.call("sendNothing", fields{"chat_id": 7})
	var calls []Call
	r.control(http.MethodGet, "/sandbox/calls", "", 200, &calls)
	if len(calls) != 3 || calls[0].Method != "getMe" || calls[2].Method != "sendNothing" {
		t.Fatalf("%+v", calls)
	}
	sent := calls[1]
	if sent.ChatID != 7 || sent.Status != 200 || sent.Outcome != OutcomeAnswered || sent.BotID != 123456 ||
		sent.Params["text"] != "x" || !strings.HasPrefix(string(sent.Answer), `{"ok":true`) {
		t.Errorf("%+v", sent)
	}
	if body := r.control(http.MethodGet, "/sandbox/calls", "", 200, nil); strings.Contains(body, "AAF-test_token") {
		t.Error("the calls show the token")
	}
	r.control(http.MethodGet, "/sandbox/calls?method=SENDMESSAGE&chatId=7", "", 200, &calls)
	if len(calls) != 1 {
		t.Errorf("%+v", calls)
	}
	if got := r.control(http.MethodGet, "/sandbox/stats", "", 200, nil); got !=
		`{"calls":3,"delivered":1,"tooManyRequests":0,"violations":0,"maxPerSecond":1,"openCalls":0}` {
		t.Errorf("%s", got)
	}
}

func TestActsOverHTTP(t *testing.T) {
	r := newRig(t, Options{StrictChats: true})
	const ok, conflict, unprocessable = 200, 409, 422
	for _, step := range []struct {
		path, body string
		want       int
		state      ChatState
	}{
		{"7/start", `{"payload":"abc"}`, ok, ChatOpen},
		{"7/start", ``, ok, ChatOpen},
		{"7/block", ``, ok, ChatBlocked},
		{"7/unblock", `{}`, ok, ChatOpen},
		{"7/block", ``, ok, ChatBlocked},
		{"7/message", `{"text":"hi"}`, ok, ChatOpen},
		{"7/message", `{}`, unprocessable, ""},
		{"7/message", `{"txt":"hi"}`, unprocessable, ""},
		{"7/block", `{"why":1}`, unprocessable, ""},
		{"7/press", `{"messageId":99,"data":"x"}`, conflict, ""},
		{"7/press", `{"data":"x"}`, unprocessable, ""},
		{"7/deactivate", ``, ok, ChatDeactivated},
		{"7/start", ``, conflict, ""},
		{"-5/message", `{"text":"hi"}`, ok, ChatOpen},
		{"-5/restrict", ``, ok, ChatRestricted},
		{"-5/kick", ``, ok, ChatKicked},
		{"-5/unblock", ``, ok, ChatOpen},
		{"-5/migrate", ``, unprocessable, ""},
		{"-5/migrate", `{"to":-5}`, conflict, ""},
		{"-5/migrate", `{"to":-1005}`, ok, ChatMigrated},
		{"-5/block", ``, conflict, ""},
		{"x/start", ``, unprocessable, ""},
		{"0/start", ``, unprocessable, ""},
		{"7/dance", ``, 404, ""},
	} {
		var view chatView
		r.control(http.MethodPost, "/sandbox/chats/"+step.path, step.body, step.want, &view)
		if view.State != step.state {
			t.Errorf("%s %s: state %q, want %q", step.path, step.body, view.State, step.state)
		}
	}
}

func TestResetStartsAfresh(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.fault(Fault{Method: "getMe", Respond: Respond{Status: 500}})
	if err := r.Block(8); err != nil {
		t.Fatal(err)
	}
	r.send(7)
	r.control(http.MethodDelete, "/sandbox", "", 204, nil)
	if got := r.Stats(); got != (Stats{}) {
		t.Errorf("%+v", got)
	}
	if len(r.Messages())+len(r.Calls())+len(r.Faults()) > 0 || r.Limits() != DefaultLimits() {
		t.Error("something was left")
	}
	r.accepted(r.send(8), nil)
	if id := r.Messages()[0].MessageID; id != 2 {
		t.Errorf("message ids begin again with %d", id)
	}
}

func TestUnknownControlPaths(t *testing.T) {
	r := newRig(t, Options{})
	r.control(http.MethodGet, "/sandbox/nothing", "", 404, nil)
	r.control(http.MethodPost, "/sandbox/limits", "{}", 405, nil)
	r.control(http.MethodGet, "/", "", 200, nil)
}
