package sandbox

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func number(x float64) *float64 { return &x }
func text(s string) *string     { return &s }

// fault puts a fault in force.
func (r *rig) fault(f Fault) {
	r.t.Helper()
	if _, err := r.AddFault(f); err != nil {
		r.t.Fatal(err)
	}
}

func TestFaultAnswers(t *testing.T) {
	const page = "<html><center>nginx/1.25</center></html>"
	for name, c := range map[string]struct {
		respond     Respond
		status      int
		body        string
		contentType string
		retryAfter  string
	}{
		"status": {Respond{Status: 502}, 502,
			`{"ok":false,"error_code":502,"description":"Bad Gateway"}`, "application/json", ""},
		"description": {Respond{Status: 400, Description: "Bad Request: FROZEN_METHOD_INVALID"}, 400,
			`{"ok":false,"error_code":400,"description":"Bad Request: FROZEN_METHOD_INVALID"}`, "application/json", ""},
		"401": {Respond{Status: 401}, 401,
			`{"ok":false,"error_code":401,"description":"Unauthorized"}`, "application/json", ""},
		"429": {Respond{RetryAfter: number(7)}, 429,
			`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}`,
			"application/json", "7"},
		"429 with a fraction": {Respond{Status: 429, RetryAfter: number(1.5)}, 429,
			`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 1.5","parameters":{"retry_after":1.5}}`,
			"application/json", "1.5"},
		"429 with zero": {Respond{Status: 429, RetryAfter: number(0)}, 429,
			`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 0","parameters":{"retry_after":0}}`,
			"application/json", "0"},
		"429 without a number": {Respond{Status: 429}, 429,
			`{"ok":false,"error_code":429,"description":"Too Many Requests"}`, "application/json", ""},
		"migrate": {Respond{MigrateToChatID: -1001}, 400,
			`{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat",` +
				`"parameters":{"migrate_to_chat_id":-1001}}`, "application/json", ""},
		"a proxy's page":          {Respond{Status: 503, Body: text(page)}, 503, page, "text/html", ""},
		"an empty page":           {Respond{Status: 503, Body: text("")}, 503, "", "text/plain; charset=utf-8", ""},
		"a page with Retry-After": {Respond{Status: 429, Body: text(page), RetryAfter: number(3)}, 429, page, "text/html", "3"},
		"a cut answer":            {Respond{Body: text(`{"ok":true,"res`)}, 200, `{"ok":true,"res`, "application/json", ""},
		"content type":            {Respond{Body: text("x"), ContentType: "text/xml"}, 200, "x", "text/xml", ""},
		"success":                 {Respond{Status: 200}, 200, `{"ok":true,"result":true}`, "application/json", ""},
		"no content":              {Respond{Status: 204}, 204, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.limit(Limits{ChatPerSecond: 1})
			r.fault(Fault{Respond: c.respond, Times: 1})
			answer := r.send(7)
			if answer.status != c.status || answer.body != c.body {
				t.Errorf("%d %s", answer.status, answer.body)
			}
			header := answer.header
			if header.Get("Content-Type") != c.contentType || header.Get("Retry-After") != c.retryAfter {
				t.Errorf("%v", header)
			}
			if logged := r.Calls()[0]; logged.FaultID != 1 || logged.Status != c.status {
				t.Errorf("%+v", logged)
			}
			if n := r.Stats().Delivered; n != 0 {
				t.Errorf("%d delivered", n)
			}
			r.accepted(r.send(7), nil) // no limit was spent, and the fault is used up
		})
	}
}

func TestDroppedConnections(t *testing.T) {
	for drop, delivered := range map[Drop]int{DropBefore: 0, DropAfter: 1} {
		t.Run(string(drop), func(t *testing.T) {
			r := newRig(t, Options{})
			r.fault(Fault{Times: 1, Respond: Respond{Drop: drop}})
			answer, err := r.try("sendMessage", fields{"chat_id": 7, "text": "x"})
			if err == nil || !errors.Is(err, io.EOF) {
				t.Fatalf("%v, answer %s", err, answer.body)
			}
			want := Stats{Calls: 1, Delivered: delivered, MaxPerSecond: delivered}
			if got := r.Stats(); got != want {
				t.Errorf("%+v", got)
			}
			if got := r.Calls()[0]; got.Outcome != OutcomeDropped || got.FaultID != 1 {
				t.Errorf("%+v", got)
			}
			// Only what was delivered has spent the chat's limit.
			if answer := r.send(7); answer.OK != (drop == DropBefore) {
				t.Errorf("%s", answer.body)
			}
		})
	}
}

func TestFaultConditions(t *testing.T) {
	inBubble(t, Options{Seed: 7}, func(r *rig) {
		r.limit(Limits{})
		code := func(method string, chatID int64) int {
			return r.call(method, fields{"chat_id": chatID, "text": "x", "action": "typing"}).ErrorCode
		}
		r.fault(Fault{Method: "SENDMESSAGE", ChatID: 7, Times: 2, Respond: Respond{Status: 500}})
		r.fault(Fault{ChatID: 8, Respond: Respond{Status: 501}})
		r.fault(Fault{Duration: time.Minute, Respond: Respond{Status: 502}})
		for i, want := range []int{500, 500, 502} { // the oldest wins while it lasts
			if got := code("sendMessage", 7); got != want {
				t.Errorf("call %d: %d, want %d", i, got, want)
			}
		}
		if got := code("sendChatAction", 8); got != 501 {
			t.Errorf("chat 8: %d", got)
		}
		if got := r.call("getMe", nil).ErrorCode; got != 502 {
			t.Errorf("getMe: %d", got)
		}
		if got := r.call("sendNothing", nil).ErrorCode; got != 502 {
			t.Errorf("an unknown method: %d", got)
		}
		time.Sleep(time.Minute)
		if got := code("sendMessage", 7); got != 0 {
			t.Errorf("after its duration: %d", got)
		}
		if left := r.Faults(); len(left) != 1 || left[0].Struck != 1 {
			t.Errorf("%+v", left)
		}
		r.ClearFaults()
		if got := code("sendMessage", 8); got != 0 {
			t.Errorf("after all were cleared: %d", got)
		}
	})
}

func TestFaultProbability(t *testing.T) {
	struck := func(seed uint64) (n int) {
		inBubble(t, Options{Seed: seed}, func(r *rig) {
			r.limit(Limits{})
			r.fault(Fault{Probability: 0.25, Respond: Respond{Status: 500}})
			for range 400 {
				if !r.send(7).OK {
					n++
				}
			}
		})
		return n
	}
	first := struck(1)
	if first < 60 || first > 140 {
		t.Errorf("%d of 400 calls were struck", first)
	}
	if again := struck(1); again != first {
		t.Errorf("the same seed struck %d, then %d", first, again)
	}
}

func TestFaultDelay(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.fault(Fault{Times: 1, Respond: Respond{Delay: 3 * time.Second, Status: 500}})
		r.fault(Fault{Times: 1, Respond: Respond{Delay: 5 * time.Second}})
		start := time.Now()
		r.refused(r.send(7), 500, "Internal Server Error")
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("answered after %v", waited)
		}
		r.accepted(r.send(7), nil)
		if waited := time.Since(start); waited != 8*time.Second {
			t.Errorf("delivered after %v", waited)
		}
	})
}

func TestWaitAnnouncedByAFault(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.fault(Fault{Method: "sendMessage", Times: 1, Respond: Respond{RetryAfter: number(5)}})
		r.send(7)
		r.accepted(r.send(8), nil) // another chat was told nothing
		time.Sleep(4 * time.Second)
		r.accepted(r.send(7), nil) // no limit was reached, but it is in spite of the wait
		time.Sleep(time.Second)
		r.accepted(r.send(7), nil)
		if got := r.Stats(); got.Violations != 1 || got.TooManyRequests != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestSenselessFaults(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for name, f := range map[string]Fault{
		"nothing":           {},
		"drop and answer":   {Respond: Respond{Drop: DropAfter, Status: 500}},
		"drop and hang":     {Respond: Respond{Drop: DropAfter, Hang: true}},
		"hang and delay":    {Respond: Respond{Hang: true, Delay: time.Second}},
		"unknown drop":      {Respond: Respond{Drop: "later"}},
		"status 99":         {Respond: Respond{Status: 99}},
		"status 600":        {Respond: Respond{Status: 600}},
		"only words":        {Respond: Respond{Description: "x"}},
		"type without body": {Respond: Respond{Status: 500, ContentType: "text/html"}},
		"times":             {Times: -1, Respond: Respond{Hang: true}},
		"probability":       {Probability: 1.1, Respond: Respond{Hang: true}},
		"duration":          {Duration: -1, Respond: Respond{Hang: true}},
	} {
		if _, err := s.AddFault(f); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A fault for a method that does not exist would never strike.
func TestMisspeltMethodIsRefused(t *testing.T) {
	r := newRig(t, Options{})
	for method, want := range map[string]string{
		"sendMesage": `{"error":"the Bot API has no method \"sendMesage\"; sendMessage is one"}`,
		"x":          `{"error":"the Bot API has no method \"x\""}`,
	} {
		if got := r.control("POST", "/sandbox/faults", `{"method":"`+method+`","respond":{"status":500}}`, 422, nil); got != want {
			t.Errorf("%s", got)
		}
	}
	r.control("POST", "/sandbox/faults", `{"method":"banchatmember","respond":{"status":500}}`, 201, nil)
}

// With a seed the same calls are struck each time.
func TestSeededFault(t *testing.T) {
	struck := func() string {
		r := newRig(t, Options{})
		r.limit(Limits{})
		r.fault(Fault{Method: "sendMessage", Probability: 0.5, Seed: 42, Respond: Respond{Status: 500}})
		pattern := ""
		for range 30 {
			pattern += map[bool]string{true: ".", false: "x"}[r.send(7).OK]
		}
		return pattern
	}
	first := struck()
	if again := struck(); again != first || !strings.Contains(first, "x") || !strings.Contains(first, ".") {
		t.Errorf("%s, then %s", first, again)
	}
}
