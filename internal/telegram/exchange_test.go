package telegram

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ask makes one POST through a recorder and returns its facts.
func ask(t *testing.T, s *httpRecorder, address string) Facts {
	t.Helper()
	return askWithin(t, s, address, 10*time.Second)
}

func askWithin(t *testing.T, s *httpRecorder, address string, timeout time.Duration) Facts {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	x, ctx := newExchange(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("text=hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Do(req)
	if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("the error names the address: %v", err)
	}
	facts, reached := x.result()
	if !reached {
		t.Error("the call did not reach the recorder")
	}
	if err == nil {
		seen, errBody := io.ReadAll(resp.Body)
		if errBody != nil || string(seen) != string(facts.Body) {
			t.Errorf("the library reads %d bytes, %v; the facts have %d", len(seen), errBody, len(facts.Body))
		}
	}
	return facts
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// ownRecorder is a recorder over our own transport, with another dial if one is given.
func ownRecorder(t *testing.T, dial dialFunc) *httpRecorder {
	t.Helper()
	s := newHTTPRecorder(nil)
	if dial != nil {
		s.client.Transport = newTransport(dial)
	}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// expect compares all but the Date.
func expect(t *testing.T, got, want Facts) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Facts{}, "Date"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFactsOfAnAnswer(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
			t.Error("a key would allow net/http to repeat the call")
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"ok":false}`)
	})
	f := ask(t, ownRecorder(t, nil), address)
	expect(t, f, Facts{Written: true, Status: 429, RetryAfter: "7", Body: []byte(`{"ok":false}`)})
	if _, err := http.ParseTime(f.Date); err != nil {
		t.Errorf("Date: %v", err)
	}
}

func TestFactsWhenNothingLeft(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	plain := strings.TrimPrefix(serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a call came through") }), "http://")
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	noName := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "secret", IsNotFound: true}}
	}
	blackHole := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, c := range []struct {
		name, address string
		dial          dialFunc
		timeout       time.Duration
		want          string
	}{
		{"refused", "http://" + closed, nil, time.Minute, "connection refused"},
		{"no name", "http://nowhere.invalid", noName, time.Minute, "name not found"},
		{"no TLS there", "https://" + plain, nil, time.Minute, "TLS failed: the other side speaks no TLS (should TELEGRAM_API_URL begin with http://?)"},
		{"certificate not trusted", untrusted.URL, nil, time.Minute, "TLS failed: the certificate is signed by nobody this machine trusts " +
			"(install ca-certificates; behind a proxy that opens TLS, add its CA)"},
		{"no connection in time", "http://192.0.2.1", blackHole, time.Millisecond, "timed out"},
		{"no time at all", "http://192.0.2.1", blackHole, -1, "timed out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, askWithin(t, ownRecorder(t, c.dial), c.address, c.timeout), Facts{Failure: c.want})
		})
	}
}

func TestFactsWithoutAnAnswer(t *testing.T) {
	hangUp := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f := ask(t, ownRecorder(t, nil), hangUp)
	if f.Status != 0 || !f.Written || f.Failure == "" {
		t.Errorf("hung up: %+v", f)
	}

	came := make(chan struct{})
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(came)
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	x, ctx := newExchange(ctx)
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, silent, strings.NewReader("x"))
	go func() { <-came; cancel() }()
	if _, err := ownRecorder(t, nil).Do(req); err == nil {
		t.Error("no error")
	}
	f, _ = x.result()
	expect(t, f, Facts{Written: true, Failure: "canceled"})
}

func TestFactsOfACutAnswer(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"ok":true,"result":{"mess`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	f := ask(t, ownRecorder(t, nil), address)
	expect(t, f, Facts{Written: true, Status: 200, Body: []byte(`{"ok":true,"result":{"mess`), Cut: true, Failure: "connection closed"})
}

func TestFactsOfALongAnswer(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true,"result":"`+strings.Repeat("x", 3*maxBody)+`"}`)
	})
	f := ask(t, ownRecorder(t, nil), address)
	if len(f.Body) != maxBody || !f.Cut || f.Failure != "the answer is too long" {
		t.Errorf("%d bytes, %+v", len(f.Body), f.Failure)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var calls atomic.Int32
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	if f := ask(t, ownRecorder(t, nil), address); f.Status != 307 || calls.Load() != 1 {
		t.Errorf("status %d, %d calls", f.Status, calls.Load())
	}
}

func TestIdleConnectionsAreClosedEarly(t *testing.T) {
	transport := newTransport(defaultDial())
	if transport.IdleConnTimeout != 30*time.Second || transport.Proxy == nil || transport.Protocols.HTTP2() {
		t.Errorf("%+v", transport)
	}
}

func TestCallsSideBySideKeepTheirOwnFacts(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	s := ownRecorder(t, nil)
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			path := fmt.Sprint("/", i)
			if f := ask(t, s, address+path); string(f.Body) != path {
				t.Errorf("%s got the answer of %s", path, f.Body)
			}
		})
	}
	group.Wait()
}
