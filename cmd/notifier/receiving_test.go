package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"notifier/internal/telegram/sandbox"
)

// calls are those of a method.
func (c *env) calls(method string) (calls []sandbox.Call) {
	for _, call := range c.box.Calls() {
		if call.Method == method {
			calls = append(calls, call)
		}
	}
	return calls
}

// freeAddress is one at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was only looked at
	return l.Addr().String()
}

// Field case UP-7: a webhook of an earlier set-up is removed without losing what waits, and set again.
func TestUP7FromWebhookToPollingAndBack(t *testing.T) {
	c := newEnv(t)
	response, err := http.Get(c.boxURL + "/bot1:test/setWebhook?url=http://" + freeAddress(t) + "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	for _, chat := range []int64{701, 702, 703} {
		if err := c.box.Start(chat, ""); err != nil {
			t.Fatal(err)
		}
	}
	s := c.serve()
	c.delivered(3) // an answer to each
	s.ready("")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}

	address := freeAddress(t)
	c.environ = append(c.environ, "NOTIFIER_UPDATES=webhook", "NOTIFIER_WEBHOOK_SECRET=opensesame",
		"NOTIFIER_WEBHOOK_LISTEN="+address, "NOTIFIER_WEBHOOK_URL=http://"+address+"/telegram/webhook")
	s = c.serve()
	s.ready("")
	if err := c.box.Start(704, ""); err != nil {
		t.Fatal(err)
	}
	c.delivered(4)
	set := c.calls("setWebhook")
	if last := fmt.Sprint(set[len(set)-1].Params); !strings.Contains(last, "my_chat_member") {
		t.Errorf("the webhook was set with %s", last)
	}
	for header, want := range map[string]int{"": 401, "OPENSESAME": 401, "opensesame": 200} {
		r, err := http.NewRequest(http.MethodPost, "http://"+address+"/telegram/webhook", strings.NewReader(`{"update_id":1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", header)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("secret %q: status %d", header, response.StatusCode)
		}
	}
	// The API does not know the webhook when that has a door of its own, nor that door the API.
	for url, want := range map[string]int{s.url + "/telegram/webhook": 404, "http://" + address + "/orders": 404} {
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("GET %s: status %d", url, response.StatusCode)
		}
	}
	if strings.Contains(s.log.String()+s.out.String(), "opensesame") {
		t.Errorf("the secret is told\n%s%s", s.out, s.log)
	}
}

// A customer without a chat gets an address, presses Start behind it, and hears of the order.
func TestAnOrderFindsItsChat(t *testing.T) {
	c := newEnv(t)
	s := c.serve()
	s.ready("")
	a := s.post("/orders", `{"number":"A-1","customer":{"id":"c-1","name":"Anna"},"currency":"EUR","totalCents":2500}`)
	_, token, found := strings.Cut(a.text("connectUrl"), "?start=")
	if !found {
		t.Fatalf("answer %v", a)
	}
	if err := c.box.Start(701, token); err != nil {
		t.Fatal(err)
	}
	c.delivered(2) // a greeting, and the order
	if out := c.want(0, "https://t.me/", "chat", "link", "c-2"); !strings.Contains(out, "Good for one use") {
		t.Errorf("chat link says %s", out)
	}
	if out := c.want(0, "can connect one at https://t.me/", "order", "place", "--customer", "c-3", "--currency", "EUR", "--total", "1"); out == "" {
		t.Error("nothing was said")
	}
	c.want(0, "Erased name, chat and texts of customer c-1 in 1 orders", "customer", "forget", "c-1")
	if out := c.want(0, "c-1", "order", "show", "1", "--json"); strings.Contains(out, "Anna") {
		t.Errorf("after forgetting: %s", out)
	}
	c.want(exitUsage, "either", "message", "retry", "1", "--state", "dead")
	c.want(exitUsage, "--state dead|uncertain|canceled", "message", "retry")
	c.want(0, "0 messages would be sent again", "message", "retry", "--state", "dead", "--dry-run")
	c.want(0, "0 chats revived", "chat", "revive", "--state", "dead", "--reason", "blocked")
}

// Field case SE-5: health tells the truth about the database and about Telegram.
func TestSE5HealthTellsTheTruth(t *testing.T) {
	c := newEnv(t)
	s := c.serve()
	s.ready("") // (a) idle
	db, err := sql.Open("sqlite", "file:"+escapePath.Replace(c.databasePath()))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	s.ready("orders_not_committed") // (b) locked from outside
	c.want(exitFailure, "takes no orders", "health", "--url", s.url)
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.ready("")
	if _, err := c.box.AddFault(sandbox.Fault{Respond: sandbox.Respond{Status: http.StatusBadGateway}}); err != nil {
		t.Fatal(err)
	}
	s.post("/orders", order("A-1", 701)) // (c) Telegram is down
	if a := s.ready("sender_waiting"); !strings.Contains(a.text("problems"), "502 Bad Gateway") {
		t.Errorf("readyz %v", a)
	}
	if a := s.ask(http.MethodGet, "/livez", ""); a.text("status") != "ok" {
		t.Errorf("livez %v", a)
	}
	c.box.ClearFaults()
	c.delivered(1)
	s.ready("")
}
