package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// env is a monitor with a server at the other end, in virtual time.
type env struct {
	*Monitor
	alarms  []Alarm
	calls   []string // method, path and body
	at      []time.Time
	answers func() (int, error)
	log     bytes.Buffer
}

func inEnv(t *testing.T, test func(e *env)) {
	synctest.Test(t, func(*testing.T) {
		e := &env{answers: func() (int, error) { return http.StatusOK, nil }}
		e.Monitor = New(Options{
			AlertURL: "https://ops.example/alert/s3cret", HeartbeatURL: "https://beat.example/s3cret",
			Find:      func(context.Context) []Alarm { return e.alarms },
			Log:       slog.New(slog.NewTextHandler(&e.log, nil)),
			transport: e,
		})
		test(e)
	})
}

func (e *env) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	e.calls = append(e.calls, strings.TrimSpace(r.Method+" "+r.URL.Host+" "+body))
	e.at = append(e.at, time.Now())
	status, err := e.answers()
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func (e *env) runFor(d time.Duration) (calls []string) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	before := len(e.calls)
	e.Run(ctx)
	return e.calls[before:]
}

func TestAHeartbeatAMinuteWhileAllIsWell(t *testing.T) {
	inEnv(t, func(e *env) {
		calls := e.runFor(10*time.Minute + time.Second)
		if len(calls) != 11 {
			t.Errorf("%d beats in ten minutes: %v", len(calls), calls)
		}
		for i, call := range calls {
			if call != "GET beat.example" {
				t.Errorf("call %d: %s", i, call)
			}
		}
	})
}

func TestAnAlarmIsToldOnceAndStopsTheHeartbeat(t *testing.T) {
	inEnv(t, func(e *env) {
		e.alarms = []Alarm{{"sender_stopped", "nothing is sent"}, {"staff_chat_dead", "unblock the bot"}}
		calls := e.runFor(time.Hour)
		if len(calls) != 2 {
			t.Fatalf("calls %v", calls)
		}
		for i, code := range []string{"sender_stopped", "staff_chat_dead"} {
			var body struct{ Service, Code, Detail, At string }
			_, text, _ := strings.Cut(calls[i], "{")
			if err := json.Unmarshal([]byte("{"+text), &body); err != nil || body.Code != code || body.Detail == "" || body.At == "" {
				t.Errorf("call %d: %s, %v", i, calls[i], err)
			}
		}
		e.alarms = nil
		if calls := e.runFor(59 * time.Second); len(calls) != 1 || !strings.HasPrefix(calls[0], "GET") {
			t.Errorf("after the alarms: %v", calls)
		}
		e.alarms = []Alarm{{"sender_stopped", "again"}}
		if calls := e.runFor(time.Hour); len(calls) != 1 {
			t.Errorf("the second time: %v", calls)
		}
	})
}

func TestAnAlarmThatNobodyTookIsRepeatedAndLoggedOnce(t *testing.T) {
	inEnv(t, func(e *env) {
		for _, fail := range []func() (int, error){
			func() (int, error) { return http.StatusBadGateway, nil },
			func() (int, error) { return 0, errors.New("dial ops.example/alert/s3cret: refused") },
		} {
			e.answers, e.alarms = fail, []Alarm{{"disk_full", "make room"}}
			if calls := e.runFor(10*time.Minute + time.Second); len(calls) != 11 {
				t.Errorf("%d tries in ten minutes", len(calls))
			}
			e.answers = func() (int, error) { return http.StatusNoContent, nil }
			if calls := e.runFor(10 * time.Minute); len(calls) != 1 {
				t.Errorf("when it works again: %v", calls)
			}
			e.alarms = nil
			e.runFor(time.Second)
		}
		log := e.log.String()
		if n := strings.Count(log, "alert address cannot be reached"); n != 2 {
			t.Errorf("%d lines for two failures\n%s", n, log)
		}
		if strings.Contains(log, "s3cret") {
			t.Errorf("an address is in the log\n%s", log)
		}
	})
}
