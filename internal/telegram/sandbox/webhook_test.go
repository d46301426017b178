package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hookCall is an update that a webhook got, after so long.
type hookCall struct {
	Text   string
	Secret string
	After  time.Duration
}

// withWebhook runs a test in a bubble with a webhook at http://shop/hook. The
// statuses are its answers, the last of them for good.
func withWebhook(t *testing.T, statuses []int, test func(r *rig, got func() []hookCall)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		calls := make(chan hookCall, 100)
		hook := servePipes(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			var u updateObject
			if err := json.NewDecoder(r.Body).Decode(&u); err != nil || r.Method != http.MethodPost ||
				r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", r.Method, err)
			}
			n := len(calls)
			calls <- hookCall{u.Message.Text, r.Header.Get("X-Telegram-Bot-Api-Secret-Token"), time.Since(start)}
			status := statuses[min(n, len(statuses)-1)]
			if status == http.StatusServiceUnavailable {
				rw.Header().Set("Retry-After", "100")
			}
			rw.WriteHeader(status)
		}))
		carrier := &http.Transport{DialContext: hook.dial}
		s := New(Options{WebhookTransport: carrier})
		transport := s.Transport()
		got := func() []hookCall {
			synctest.Wait()
			list := []hookCall{}
			for len(calls) > 0 {
				list = append(list, <-calls)
			}
			return list
		}
		test(&rig{s, t, "http://sandbox", &http.Client{Transport: transport}}, got)
		s.Close()
		hook.close()
		carrier.CloseIdleConnections()
		transport.CloseIdleConnections()
	})
}

func TestWebhookDelivers(t *testing.T) {
	withWebhook(t, []int{200}, func(r *rig, got func() []hookCall) {
		r.done(r.Write(7, "one"))
		answer := r.call("setWebhook", fields{"url": "http://shop/hook", "secret_token": "s3cret_-"})
		r.accepted(answer, nil)
		if answer.Description != "Webhook was set" {
			t.Errorf("%s", answer.body)
		}
		r.done(r.Write(7, "two"))
		want := []hookCall{{"one", "s3cret_-", 0}, {"two", "s3cret_-", 0}}
		if diff := cmp.Diff(want, got()); diff != "" {
			t.Error(diff)
		}
		r.refused(r.call("getUpdates", nil), 409,
			"Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
		var info webhookInfo
		r.accepted(r.call("getWebhookInfo", nil), &info)
		if diff := cmp.Diff(webhookInfo{URL: "http://shop/hook", MaxConnections: 40}, info); diff != "" {
			t.Error(diff)
		}
		answer = r.call("setWebhook", fields{"url": "http://shop/hook", "secret_token": "s3cret_-"})
		if answer.Description != "Webhook is already set" {
			t.Errorf("%s", answer.body)
		}
		r.accepted(r.call("deleteWebhook", nil), nil)
		r.done(r.Write(7, "three"))
		if list := got(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		if list := r.updates(nil); len(list) != 1 {
			t.Errorf("%+v", list)
		}
		if answer := r.call("deleteWebhook", fields{"drop_pending_updates": true}); answer.Description != "Webhook is already deleted" {
			t.Errorf("%s", answer.body)
		}
		if list := r.updates(nil); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		r.accepted(r.call("getWebhookInfo", nil), &info)
		if info.URL != "" {
			t.Errorf("%+v", info)
		}
	})
}

func TestWebhookIsRetriedInOrder(t *testing.T) {
	withWebhook(t, []int{500, 401, 302, 503, 204}, func(r *rig, got func() []hookCall) {
		r.accepted(r.call("setWebhook", fields{"url": "http://shop/hook"}), nil)
		r.done(r.Write(7, "one"))
		r.done(r.Write(7, "two"))
		synctest.Wait()
		var info webhookInfo
		r.accepted(r.call("getWebhookInfo", nil), &info)
		if info.PendingUpdateCount != 2 || info.LastErrorDate == 0 ||
			info.LastErrorMessage != "Wrong response from the webhook: 401 Unauthorized" {
			t.Errorf("%+v", info)
		}
		time.Sleep(10 * time.Minute)
		const second = time.Second
		want := []hookCall{
			{"one", "", 0}, {"one", "", 0}, {"one", "", second}, {"one", "", 3 * second}, // then Retry-After
			{"one", "", 103 * second}, {"two", "", 103 * second},
		}
		if diff := cmp.Diff(want, got()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWebhookEndsPolling(t *testing.T) {
	withWebhook(t, []int{200}, func(r *rig, _ func() []hookCall) {
		poll := make(chan reply)
		go func() {
			answer, _ := r.try("getUpdates", fields{"timeout": 30})
			poll <- answer
		}()
		synctest.Wait()
		r.accepted(r.call("setWebhook", fields{"url": "http://shop/hook"}), nil)
		r.refused(<-poll, 409, "Conflict: terminated by setWebhook request")
	})
}

func TestWebhookStopsWhileItRetries(t *testing.T) {
	for name, stop := range map[string]func(*rig){
		"delete": func(r *rig) { r.call("deleteWebhook", nil) },
		"empty":  func(r *rig) { r.call("setWebhook", fields{"url": ""}) },
		"reset":  func(r *rig) { r.Reset() },
		"close":  func(r *rig) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			withWebhook(t, []int{500}, func(r *rig, got func() []hookCall) {
				r.accepted(r.call("setWebhook", fields{"url": "http://shop/hook"}), nil)
				r.done(r.Write(7, "one"))
				time.Sleep(time.Minute)
				if len(got()) == 0 {
					t.Error("nothing was sent")
				}
				stop(r)
				time.Sleep(time.Hour)
				if list := got(); len(list) != 0 {
					t.Errorf("%+v", list)
				}
			})
		})
	}
}

func TestWebhookRefusals(t *testing.T) {
	r := newRig(t, Options{})
	for _, address := range []string{"shop", "ftp://shop/", "http://", "http://a b/"} {
		r.refused(r.call("setWebhook", fields{"url": address}), 400, "Bad Request: bad webhook: invalid webhook URL specified")
	}
	r.refused(r.call("setWebhook", fields{"url": "http://shop/", "secret_token": strings.Repeat("a", 257)}),
		400, "Bad Request: secret token is too long")
	r.refused(r.call("setWebhook", fields{"url": "http://shop/", "secret_token": "a b"}),
		400, "Bad Request: secret token contains unallowed characters")
}
