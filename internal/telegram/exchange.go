package telegram

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// NotWrittenError is how a custom http.RoundTripper says that no byte of the request left.
type NotWrittenError struct{ Err error }

// Error implements error.
func (e *NotWrittenError) Error() string { return "not written: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *NotWrittenError) Unwrap() error { return e.Err }

// exchange collects the facts of one call while it runs. The transport's hooks run on goroutines
// of its own, and may still do so after the call is over: hence the lock.
type exchange struct {
	mu      sync.Mutex
	limit   int  // how much of an answer is read, in bytes
	reached bool // the library has come as far as the HTTP client
	traced  bool // the transport told us of its connections
	gauge   gauge
	facts   Facts
}

type exchangeKey struct{}

// newExchange returns an exchange and the context that leads the recorder to it.
func newExchange(ctx context.Context) (*exchange, context.Context) {
	x := &exchange{limit: maxBody}
	return x, context.WithValue(ctx, exchangeKey{}, x)
}

// result is what is known now.
func (x *exchange) result() (f Facts, reached bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.facts, x.reached
}

// note changes the exchange under its lock.
func (x *exchange) note(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
}

// trace watches the connections of a call. From the moment it has a connection, bytes may leave,
// and only a count of them can show that none did.
// A transport asks for a second connection for the same call only after it has made sure that the
// first one, a reused one that turned out dead, took nothing (shouldRetryRequest in net/http):
// that is a fresh start.
func (x *exchange) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) {
			x.note(func() { x.traced, x.facts.Written, x.gauge = true, false, gauge{} })
		},
		GotConn: func(info httptrace.GotConnInfo) {
			x.note(func() { x.facts.Written, x.gauge = true, newGauge(info.Conn) })
		},
	}
}

// failed notes that the call ended without an answer. Without hooks (a custom transport that does
// not know httptrace) only the error can prove that nothing left.
func (x *exchange) failed(err error, traceIsSure bool) {
	x.note(func() {
		x.facts.Failure = failureWords(err)
		if !x.traced && !traceIsSure {
			x.facts.Written = true
		}
		if x.gauge.unmoved() || provesNotWritten(err) {
			x.facts.Written = false
		}
	})
}

func provesNotWritten(err error) bool {
	var notWritten *NotWrittenError
	var op *net.OpError
	return errors.As(err, &notWritten) || errors.As(err, &op) && op.Op == "dial"
}

// answered reads the answer up to the limit and replaces its body by what was read, so that the
// library above never holds more than that.
func (x *exchange) answered(resp *http.Response) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(x.limit)+1))
	_ = resp.Body.Close() // what can be known of the answer is known
	f := Facts{
		Written:    true,
		Status:     resp.StatusCode,
		RetryAfter: resp.Header.Get("Retry-After"),
		Date:       resp.Header.Get("Date"),
		Body:       body,
	}
	switch {
	case err != nil:
		f.Cut, f.Failure = true, failureWords(err)
	case len(body) > x.limit:
		f.Cut, f.TooLong, f.Failure, f.Body = true, true, "the answer is too long", body[:x.limit]
	}
	x.note(func() { x.facts = f })
	resp.Body = io.NopCloser(bytes.NewReader(f.Body))
}

// httpRecorder is the HTTP client below the Bot API library. It adds nothing to a request and follows no
// redirect; it only watches.
type httpRecorder struct {
	client      *http.Client
	traceIsSure bool // the transport is ours and calls every hook
}

// Do implements the library's HttpClient. Its errors hold neither token nor address.
func (s *httpRecorder) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		x, _ = newExchange(req.Context())
	}
	x.note(func() { x.reached = true })
	if err := req.Context().Err(); err != nil {
		x.failed(err, true)
		return nil, errors.New(failureWords(err))
	}
	resp, err := s.client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), x.trace())))
	if err != nil {
		x.failed(err, s.traceIsSure)
		return nil, errors.New(failureWords(err))
	}
	x.answered(resp)
	return resp, nil
}
