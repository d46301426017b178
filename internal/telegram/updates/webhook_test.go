package updates

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"notifier/internal/config"
	"notifier/internal/secret"
	"notifier/internal/telegram"
	"notifier/internal/telegram/sandbox"
)

func secretOf(text string) secret.Value { return secret.New(text) }

func callOf(method string, params map[string]any) telegram.Request {
	return telegram.Request{Method: method, Params: params}
}

const rightSecret = "Right_secret-1"

func (r *env) webhook() *Webhook {
	r.t.Helper()
	h, err := NewWebhook(WebhookOptions{Client: r.client, Inbox: r.inbox, URL: "http://shop.invalid" + config.WebhookPath, Secret: secretOf(rightSecret)})
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// post calls a webhook as Telegram does.
func post(h http.Handler, body string, secrets ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, config.WebhookPath, strings.NewReader(body))
	for _, s := range secrets {
		req.Header.Add(secretHeader, s)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func TestSE2AWebhookCallWithoutTheSecretLeavesNoTrace(t *testing.T) {
	inEnv(t, func(r *env) {
		h := r.webhook()
		for _, secrets := range [][]string{{}, {""}, {"wrong"}, {strings.ToLower(rightSecret)}, {rightSecret + " "}, {rightSecret, rightSecret}} {
			w := post(h, words(1, 801), secrets...)
			if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), rightSecret) ||
				w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%q: %d %s", secrets, w.Code, w.Body)
			}
		}
		if len(r.stored()) != 0 || len(r.heard()) != 0 || len(r.received) != 0 {
			t.Errorf("traces: %v, %v, %v", r.stored(), r.heard(), r.received)
		}
		if w := post(h, words(1, 801), rightSecret); w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("the right secret: %d %s", w.Code, w.Body)
		}
		r.wantHeard("text 801 ")
	})
}

func TestSE2OtherMethodsAndLargeBodies(t *testing.T) {
	inEnv(t, func(r *env) {
		h := r.webhook()
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, config.WebhookPath, nil))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
				t.Errorf("%s: %d", method, w.Code)
			}
		}
		large := `{"update_id":1,"message":{"text":"` + strings.Repeat("x", 20<<20) + `"}}`
		if w := post(h, large, rightSecret); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("20 MB: %d", w.Code)
		}
		req := httptest.NewRequest(http.MethodPost, config.WebhookPath, io.MultiReader(strings.NewReader("{"), brokenBody{}))
		req.Header.Set(secretHeader, rightSecret)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, req); w.Code != http.StatusBadRequest {
			t.Errorf("a body that ends early: %d", w.Code)
		}
		if len(r.stored()) != 0 {
			t.Errorf("stored %v", r.stored())
		}
	})
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestSE2TheSecretIsCheckedAtTheStart(t *testing.T) {
	for _, bad := range []string{"", "hush!"} {
		if _, err := NewWebhook(WebhookOptions{Secret: secretOf(bad)}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestUP3TheSameUpdateTwice(t *testing.T) {
	inEnv(t, func(r *env) {
		h := r.webhook()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if w := post(h, words(1, 801), rightSecret); w.Code != http.StatusOK {
					t.Errorf("side by side: %d", w.Code)
				}
			})
		}
		all.Wait()
		post(h, words(1, 801), rightSecret)
		r.reopen()
		if w := post(r.webhook(), words(1, 801), rightSecret); w.Code != http.StatusOK {
			t.Errorf("after a restart: %d", w.Code)
		}
		r.wantHeard("text 801 ")
	})
}

func TestUP3AStorageFailureIsAnErrorAndTheNextTryWorks(t *testing.T) {
	inEnv(t, func(r *env) {
		h := r.webhook()
		r.effect = func(Event) error { return errDiskFull }
		for range 20 {
			w := post(h, words(1, 801), rightSecret)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		r.effect = nil
		if w := post(h, words(1, 801), rightSecret); w.Code != http.StatusOK {
			t.Errorf("the next try: %d", w.Code)
		}
		r.wantHeard("text 801 ")
	})
}

func TestTheWebhookTakesPoison(t *testing.T) {
	inEnv(t, func(r *env) {
		h := r.webhook()
		for _, body := range []string{``, `{`, `null`, `[]`, `{"update_id":1,`, `{"update_id":2,"message":7}`, "\xff", `{"update_id":-3}`, strings.Repeat("[", 100000)} {
			if w := post(h, body, rightSecret); w.Code != http.StatusOK {
				t.Errorf("%.20q: %d", body, w.Code)
			}
		}
		if got := strings.Join(r.stored(), " "); got != "unreadable unreadable" {
			t.Errorf("stored %s", got)
		}
	})
}

func TestUP7TheWebhookIsSetWithSecretAndKinds(t *testing.T) {
	inEnv(t, func(r *env) {
		must(t, r.sandbox.Write(801, "before"))
		h := r.webhook()
		r.fault(sandbox.Fault{Method: "setWebhook", Times: 2, Respond: sandbox.Respond{Status: 502}})
		r.fault(sandbox.Fault{Method: "setWebhook", Times: 1, Respond: sandbox.Respond{RetryAfter: seconds(90)}})
		h.Run(context.Background())
		info, _ := r.client.WebhookInfo(context.Background())
		if info.URL != "http://shop.invalid"+config.WebhookPath || info.PendingUpdateCount != 1 ||
			strings.Join(info.AllowedUpdates, " ") != "message callback_query my_chat_member" {
			t.Errorf("the webhook is %+v", info)
		}
		calls := r.calls("setWebhook")
		last := calls[len(calls)-1]
		if last.Params["secret_token"] != rightSecret || last.ReceivedAt.Sub(calls[len(calls)-2].ReceivedAt) < 90*time.Second {
			t.Errorf("set with %v", last.Params)
		}
		time.Sleep(time.Hour)
		if s := h.Status(time.Now()); s.Code != Receiving {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestAWebhookThatCannotBeSetIsSaid(t *testing.T) {
	inEnv(t, func(r *env) {
		h := r.webhook()
		r.wire.cut.Store(true)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		h.Run(ctx)
		if s := h.Status(time.Now()); s.Code != NotReceiving || !strings.Contains(s.Detail, "webhook") {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestTheSandboxDeliversToTheWebhook(t *testing.T) {
	inEnv(t, func(r *env) {
		r.hook = r.webhook()
		must(t, r.webhook().setUp(context.Background()))
		fails := 2
		r.effect = func(Event) error {
			if fails--; fails >= 0 {
				return errDiskFull
			}
			return nil
		}
		must(t, r.sandbox.Start(801, "abc"))
		must(t, r.sandbox.Block(801))
		time.Sleep(time.Minute)
		r.wantHeard("start 801 abc", "blocked 801 ")
	})
}
