package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"notifier/internal/outbox"
	"notifier/internal/secret"
)

// callable is a client whose calls a handler answers.
func callable(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := New(Options{Token: fixedToken(testToken), URL: server.URL, Timeout: 5 * time.Second, Render: renderPair})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCallSendsJSONAndReturnsTheResult(t *testing.T) {
	var got struct {
		Offset         int64    `json:"offset"`
		Timeout        int      `json:"timeout"`
		AllowedUpdates []string `json:"allowed_updates"`
	}
	var path, kind string
	c := callable(t, func(w http.ResponseWriter, r *http.Request) {
		path, kind = r.URL.Path, r.Header.Get("Content-Type")
		_ = json.NewDecoder(r.Body).Decode(&got)
		fmt.Fprint(w, `{"ok":true,"result":[{"update_id":7}]}`)
	})
	reply := c.GetUpdates(t.Context(), 9, MaxUpdates, time.Hour)
	if !reply.OK || reply.Code != 200 || string(reply.Result) != `[{"update_id":7}]` {
		t.Errorf("got %+v", reply)
	}
	if path != "/bot"+testToken+"/getUpdates" || kind != "application/json" {
		t.Errorf("asked %s with %s", path, kind)
	}
	if got.Offset != 9 || got.Timeout != 50 || strings.Join(got.AllowedUpdates, " ") != "message callback_query my_chat_member" {
		t.Errorf("asked for %+v", got)
	}
}

func TestCallReadsNoMoreThanItsLimit(t *testing.T) {
	c := callable(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"ok":true,"result":"`+strings.Repeat("x", 1000)+`"}`)
	})
	for limit, whole := range map[int]bool{0: true, 100: false, 1023: true, 1022: false} {
		reply := c.Call(t.Context(), Request{Method: "x", MaxBody: limit})
		if reply.TooLong == whole || (reply.Result != nil) != whole || limit > 0 && len(reply.Body) > limit {
			t.Errorf("limit %d: %d bytes, too long: %v, result: %v", limit, len(reply.Body), reply.TooLong, reply.Result != nil)
		}
	}
}

func TestCallKnowsConflictsAndWaits(t *testing.T) {
	body, status := "", 0
	c := callable(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	status, body = 409, `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}`
	if r := c.DeleteWebhook(t.Context()); r.OK || r.Code != 409 || !strings.Contains(r.Detail, "terminated") {
		t.Errorf("got %+v", r)
	}
	status, body = 429, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":7}}`
	if r := c.SetWebhook(t.Context(), "https://shop.example/", secret.New("s")); r.Verdict != outbox.Wait || r.Wait != 7*time.Second {
		t.Errorf("got %+v", r)
	}
	status, body = 200, `{"ok":true,"result":{"url":"https://shop.example/","pending_update_count":3}}`
	if info, r := c.WebhookInfo(t.Context()); !r.OK || info.URL != "https://shop.example/" || info.PendingUpdateCount != 3 {
		t.Errorf("got %+v, %+v", info, r)
	}
}

func TestCallNeverShowsTheToken(t *testing.T) {
	c := callable(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"ok":false,"error_code":400,"description":"`+r.URL.Path+`"}`, http.StatusBadRequest)
	})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []Reply{
		c.AnswerCallback(t.Context(), "1"),
		c.Call(t.Context(), Request{Method: "a b\x7f"}), // no address can be made of this
		c.Call(t.Context(), Request{Method: "x", Params: map[string]any{"x": func() {}}}),
		c.Call(canceled, Request{Method: "x"}),
	} {
		if r.OK || r.Detail == "" || strings.Contains(r.Detail, "hush") {
			t.Errorf("got %+v", r.CallResult)
		}
	}
}

func TestCallReadsARefusedTokenAgain(t *testing.T) {
	tokens := []string{testToken, testToken + "2"}
	asked := 0
	good := "/bot" + tokens[1] + "/"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, good) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"ok":false,"error_code":401,"description":"Unauthorized"}`)
			return
		}
		fmt.Fprint(w, `{"ok":true,"result":true}`)
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL, Timeout: 5 * time.Second, Render: renderPair, Token: func() (secret.Value, error) {
		asked++
		return secret.New(tokens[min(asked, 2)-1]), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r := c.SetCommands(t.Context(), "ru", []Command{{"help", "x"}}); r.Verdict != outbox.BotStopped {
		t.Errorf("got %+v", r)
	}
	if r := c.SetCommands(t.Context(), "", nil); !r.OK {
		t.Errorf("got %+v", r)
	}
	if id := c.ID(); id != "7900000001" {
		t.Errorf("the bot is %s", id)
	}
}
