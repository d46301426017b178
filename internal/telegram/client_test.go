package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"notifier/internal/outbox"
	"notifier/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken = "7900000001:hush-hush-hush-hush-hush"

// api answers every call with the next of its answers, the last one again and again.
type api struct {
	mu      sync.Mutex
	answers []string
	status  int
	calls   []apiCall
}

type apiCall struct {
	path string
	form map[string]string
}

func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	form := map[string]string{}
	if r.Header.Get("Content-Type") != "" {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			return nil, err
		}
		for name, values := range r.MultipartForm.Value {
			form[name] = strings.Join(values, "|")
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, apiCall{r.Method + " " + r.URL.String(), form})
	body := a.answers[0]
	if len(a.answers) > 1 {
		a.answers = a.answers[1:]
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func fixedToken(token string) func() (secret.Value, error) {
	return func() (secret.Value, error) { return secret.New(token), nil }
}

func renderPair(messageType string, _ json.RawMessage) (Rendered, error) {
	return Rendered{HTML: "<b>" + messageType + "</b>", Plain: messageType, Buttons: []Button{{"Track", "https://example.com/"}}}, nil
}

func newClient(t *testing.T, transport http.RoundTripper) *Client {
	t.Helper()
	c, err := New(Options{Token: fixedToken(testToken), URL: "http://telegram.test/", Timeout: 30 * time.Second, Render: renderPair, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func compose(t *testing.T, c *Client, d outbox.Draft) outbox.Composed {
	t.Helper()
	l, err := c.Compose(d)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSendIsOneCall(t *testing.T) {
	a := &api{status: 200, answers: []string{`{"ok":true,"result":{"message_id":42}}`}}
	c := newClient(t, a)
	answer := c.Send(t.Context(), "-1009876500001", compose(t, c, outbox.Draft{Type: "Text"}))
	if want := (outbox.CallResult{Verdict: outbox.Accepted, Detail: "200 OK", RemoteID: 42, OK: true, Answered: true}); answer != want {
		t.Errorf("got %+v", answer)
	}
	want := []apiCall{{"POST http://telegram.test/bot" + testToken + "/sendMessage", map[string]string{
		"chat_id": "-1009876500001", "text": "<b>Text</b>", "parse_mode": "HTML",
		"link_preview_options": `{"is_disabled":true}`,
		"reply_markup":         `{"inline_keyboard":[[{"text":"Track","url":"https://example.com/"}]]}`,
	}}}
	if diff := cmp.Diff(want, a.calls, cmp.AllowUnexported(apiCall{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSendPlainHasNoMarkup(t *testing.T) {
	a := &api{status: 200, answers: []string{`{"ok":true}`}}
	c := newClient(t, a)
	c.Send(t.Context(), "1", compose(t, c, outbox.Draft{Type: "Text", Plain: true}))
	if form := a.calls[0].form; form["text"] != "Text" || form["parse_mode"] != "" {
		t.Errorf("got %v", form)
	}
}

// The library reports an error for many answers by which Telegram has taken the message.
func TestSendJudgesByFacts(t *testing.T) {
	for body, want := range map[string]outbox.Verdict{
		`{"ok":true,"result":"odd"}`:        outbox.Accepted,
		`{"ok":true,"result":{"chat":"x"}}`: outbox.Accepted,
		`{"ok":true,"result":{`:             outbox.Accepted,
		`<html>`:                            outbox.Uncertain,
	} {
		c := newClient(t, &api{status: 200, answers: []string{body}})
		if got := c.Send(t.Context(), "1", compose(t, c, outbox.Draft{})); got.Verdict != want {
			t.Errorf("%s: got %s", body, got.Verdict)
		}
	}
}

func TestSendEndsAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := roundTripFunc(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c := newClient(t, hang)
		begin := time.Now()
		answer := c.Send(t.Context(), "1", compose(t, c, outbox.Draft{}))
		if took := time.Since(begin); took != 30*time.Second || answer.Verdict != outbox.Uncertain || answer.Detail != "no answer: timed out" {
			t.Errorf("after %v: %+v", took, answer)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if answer := c.Send(ctx, "1", compose(t, c, outbox.Draft{})); answer.Verdict != outbox.NotSent {
			t.Errorf("with an ended context: %+v", answer)
		}
	})
}

func TestSendRefusesAForeignLetter(t *testing.T) {
	c := newClient(t, &api{})
	if a := c.Send(t.Context(), "1", "a text"); a.Verdict != outbox.Rejected {
		t.Errorf("got %+v", a)
	}
}

type textError struct{ reason string }

func (e textError) Error() string  { return "x" }
func (e textError) Reason() string { return e.reason }
func (e textError) Detail() string { return "too long\nby far" }

func TestComposeRefuses(t *testing.T) {
	for _, c := range []struct {
		err  error
		want outbox.Refusal
	}{
		{textError{outbox.ReasonRejected}, outbox.Refusal{Reason: outbox.ReasonRejected, Detail: "too long by far"}},
		{fmt.Errorf("wrapped: %w", textError{outbox.ReasonTemplateError}), outbox.Refusal{Reason: outbox.ReasonTemplateError, Detail: "too long by far"}},
		{textError{"something else"}, outbox.Refusal{Reason: outbox.ReasonTemplateError, Detail: "the text could not be made"}},
		{errors.New("with the text inside"), outbox.Refusal{Reason: outbox.ReasonTemplateError, Detail: "the text could not be made"}},
	} {
		client, err := New(Options{Token: fixedToken(testToken), Timeout: time.Second,
			Render: func(string, json.RawMessage) (Rendered, error) { return Rendered{}, c.err }})
		if err != nil {
			t.Fatal(err)
		}
		l, err := client.Compose(outbox.Draft{})
		var refusal *outbox.Refusal
		if l != nil || !errors.As(err, &refusal) || *refusal != c.want {
			t.Errorf("%v: got %v, %v", c.err, l, err)
		}
	}
}

func TestIdentifyLearnsTheName(t *testing.T) {
	a := &api{status: 200, answers: []string{`{"ok":false,"error_code":401,"description":"Unauthorized"}`, `{"ok":true,"result":{"id":7900000001,"is_bot":true,"username":"shop_bot"}}`}}
	c := newClient(t, a)
	if got := c.Identify(t.Context()); got.Verdict != outbox.BotStopped || got.Answered || got.OK || c.Username() != "" {
		t.Errorf("got %+v, name %q", got, c.Username())
	}
	if got := c.Identify(t.Context()); got.Verdict != outbox.Accepted || !got.Answered || !got.OK || c.Username() != "shop_bot" {
		t.Errorf("got %+v, name %q", got, c.Username())
	}
	if got := a.calls[1].path; got != "POST http://telegram.test/bot"+testToken+"/getMe" {
		t.Errorf("called %s", got)
	}
}

func TestTouchShowsTyping(t *testing.T) {
	a := &api{status: 200, answers: []string{`{"ok":true,"result":true}`, `{"ok":false,"error_code":401}`}}
	c := newClient(t, a)
	if got := c.Touch(t.Context(), "7"); !got.OK || !got.Answered {
		t.Errorf("got %+v", got)
	}
	if got := c.Touch(t.Context(), "7"); got.OK || !got.Answered {
		t.Errorf("a refused token is an answer all the same: %+v", got)
	}
	want := apiCall{"POST http://telegram.test/bot" + testToken + "/sendChatAction", map[string]string{"chat_id": "7", "action": "typing"}}
	if diff := cmp.Diff(want, a.calls[0], cmp.AllowUnexported(apiCall{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestARefusedTokenIsReadAgain(t *testing.T) {
	a := &api{status: 200, answers: []string{`{"ok":false,"error_code":401,"description":"Unauthorized"}`}}
	tokens := []string{testToken, testToken, "", "7900000002:other", "not a token", "7900000001:new"}
	read := func() (secret.Value, error) {
		token := tokens[0]
		tokens = tokens[1:]
		if token == "" {
			return secret.Value{}, errors.New("no such file")
		}
		return secret.New(token), nil
	}
	c, err := New(Options{Token: read, URL: "http://telegram.test", Timeout: time.Second, Render: renderPair, Transport: a})
	if err != nil {
		t.Fatal(err)
	}
	var details []string
	for range 6 {
		answer := c.Identify(t.Context())
		if answer.Verdict != outbox.BotStopped {
			t.Errorf("got %+v", answer)
		}
		details = append(details, answer.Detail)
	}
	want := []string{"401 (HTTP 200) Unauthorized", "401 (HTTP 200) Unauthorized", errTokenUnreadable.Error(), errOtherBot.Error(), errTokenUnreadable.Error(), "401 (HTTP 200) Unauthorized"}
	if diff := cmp.Diff(want, details); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(a.calls) != 3 || !strings.Contains(a.calls[2].path, "bot7900000001:new/") {
		t.Errorf("calls %v", a.calls)
	}
}

func TestDetailNeverHoldsTheToken(t *testing.T) {
	a := &api{status: 200, answers: []string{`{"ok":false,"error_code":400,"description":"no bot 1:hush here"}`}}
	c, err := New(Options{Token: fixedToken("1:hush"), Timeout: time.Second, Render: renderPair, Transport: a})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Identify(t.Context()).Detail; got != "400 (HTTP 200) no bot *** here" {
		t.Errorf("got %q", got)
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	good := Options{Token: fixedToken("1:hush"), Timeout: time.Second, Render: renderPair}
	for name, spoil := range map[string]func(*Options){
		"timeout":    func(o *Options) { o.Timeout = 0 },
		"no token":   func(o *Options) { o.Token = nil },
		"no render":  func(o *Options) { o.Render = nil },
		"bad token":  func(o *Options) { o.Token = fixedToken("hush") },
		"unread":     func(o *Options) { o.Token = func() (secret.Value, error) { return secret.Value{}, errors.New("gone") } },
		"bad url":    func(o *Options) { o.URL = "://hush" },
		"no host":    func(o *Options) { o.URL = "https://" },
		"scheme":     func(o *Options) { o.URL = "ftp://hush" },
		"user":       func(o *Options) { o.URL = "https://hush:hush@host" },
		"with query": func(o *Options) { o.URL = "https://host?hush" },
	} {
		o := good
		spoil(&o)
		if c, err := New(o); err == nil || c != nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, %v", name, c, err)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
