package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFactsWithACustomTransport(t *testing.T) {
	const address = "http://telegram.invalid/bot1:secret/sendMessage"
	for _, c := range []struct {
		name string
		err  error
		want Facts
	}{
		{"any error", errors.New("lost at " + address), Facts{Written: true, Failure: "network error"}},
		{"not written", fmt.Errorf("fault: %w", &NotWrittenError{errors.New("refused")}), Facts{Failure: "network error"}},
		{"dial", &net.OpError{Op: "dial", Err: errors.New("x")}, Facts{Failure: "network error"}},
		{"read", &net.OpError{Op: "read", Err: io.ErrUnexpectedEOF}, Facts{Written: true, Failure: "connection closed"}},
		{"timeout", context.DeadlineExceeded, Facts{Written: true, Failure: "timed out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHTTPRecorder(roundTripFunc(func(*http.Request) (*http.Response, error) { return nil, c.err }))
			expect(t, ask(t, s, address), c.want)
			if _, err := s.Do(httptest.NewRequest(http.MethodPost, address, nil)); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A custom transport that passes calls on to net/http calls the hooks, and those are believed.
func TestFactsWithACustomTransportThatIsTraced(t *testing.T) {
	inner := newTransport(defaultDial())
	t.Cleanup(inner.CloseIdleConnections)
	s := newHTTPRecorder(roundTripFunc(func(r *http.Request) (*http.Response, error) {
		resp, err := inner.RoundTrip(r)
		if err != nil {
			return nil, &url.Error{Op: "Post", URL: "x", Err: errors.New("wrapped away")}
		}
		return resp, nil
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	expect(t, ask(t, s, "http://"+closed), Facts{Failure: "network error"})
}
