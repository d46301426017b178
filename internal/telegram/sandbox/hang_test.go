package sandbox

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestHangingCall(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.fault(Fault{Times: 1, Respond: Respond{Hang: true}})
		impatient := &rig{r.Sandbox, t, r.url, &http.Client{Transport: r.client.Transport, Timeout: 30 * time.Second}}
		time.AfterFunc(29*time.Second, func() {
			if got := r.Stats().OpenCalls; got != 1 {
				t.Errorf("%d calls are open", got)
			}
			if got := r.Calls()[0].Outcome; got != OutcomeOpen {
				t.Errorf("outcome %s", got)
			}
		})
		_, err := impatient.try("sendMessage", fields{"chat_id": 7, "text": "x"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got, want := r.Stats(), (Stats{Calls: 1}); got != want {
			t.Errorf("%+v", got)
		}
	})
}

func TestWaitStats(t *testing.T) {
	r := newRig(t, Options{})
	r.fault(Fault{Times: 1, Respond: Respond{Hang: true}})
	var hanging sync.WaitGroup
	hanging.Go(func() { _, _ = r.try("sendMessage", fields{"chat_id": 7, "text": "x"}) })
	if stats, ok := r.WaitStats(t.Context(), func(s Stats) bool { return s.OpenCalls == 1 }); !ok {
		t.Errorf("%+v", stats)
	}
	hanging.Go(func() { _, _ = r.try("sendMessage", fields{"chat_id": 7, "text": "x"}) })
	if stats, ok := r.WaitStats(t.Context(), func(s Stats) bool { return s.Delivered == 1 }); !ok {
		t.Errorf("%+v", stats)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := r.WaitStats(ended, func(Stats) bool { return false }); ok {
		t.Error("the condition is never satisfied")
	}
	r.Reset()
	hanging.Wait()
}

// The last part of a multipart body may end long before the body does.
func TestHangingMultipartCallEndsWithItsClient(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.fault(Fault{Respond: Respond{Hang: true}})
		var body bytes.Buffer
		writer := multipart.NewWriter(&body)
		_ = writer.WriteField("chat_id", "7")
		_ = writer.Close()
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
		defer cancel()
		post := request(http.MethodPost, r.url+token+"sendMessage", writer.FormDataContentType(), body.String()+strings.Repeat("\r\n", 5000))
		if _, err := r.do(post.WithContext(ctx)); err == nil {
			t.Fatal("it was answered")
		}
		synctest.Wait()
		if got := r.Stats().OpenCalls; got != 0 {
			t.Errorf("%d calls are open", got)
		}
	})
}

func TestResetEndsHangingCalls(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.fault(Fault{Respond: Respond{Hang: true}})
		time.AfterFunc(time.Hour, r.Reset)
		if _, err := r.try("sendMessage", fields{"chat_id": 7, "text": "x"}); err == nil {
			t.Error("it was answered")
		}
		r.accepted(r.send(7), nil)
		if got := r.Stats().Calls; got != 1 {
			t.Errorf("%d calls", got)
		}
	})
}
