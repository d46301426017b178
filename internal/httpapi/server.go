package httpapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// bodyDeadline is how long a request may take to arrive, from the end of its header to the end of its
// body.
const bodyDeadline = 15 * time.Second

// NewServer returns a server with limits for clients that are slow, large or idle. The time to write
// covers a request that waits its turn at a locked database. Its Shutdown waits for no body that is
// still to come.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	ending, end := context.WithCancel(context.Background())
	s := &http.Server{
		Handler:           boundBodies(ending, h),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.RegisterOnShutdown(end)
	return s
}

// boundBodies gives every body a deadline, which the end of the server brings forward.
func boundBodies(ending context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			h.ServeHTTP(w, r)
			return
		}
		b := &timedBody{ReadCloser: r.Body, connection: http.NewResponseController(w)}
		b.until(time.Now().Add(bodyDeadline))
		stop := context.AfterFunc(ending, func() { b.until(time.Now()) })
		defer stop()
		r.Body = b
		h.ServeHTTP(hastyWriter{w, b}, r)
		b.until(time.Now()) // the server reads no further than what has come
	})
}

// timedBody is a body with a deadline that is lifted at its end: the server takes a missed one for a
// client that has gone away, and would end the request's context.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController

	mu   sync.Mutex
	over bool // it has been read to its end
}

// until moves the deadline, while it matters.
func (b *timedBody) until(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		_ = b.connection.SetReadDeadline(t) // in tests there may be no connection
	}
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.over {
			b.over = true
			_ = b.connection.SetReadDeadline(time.Time{})
		}
	}
	return n, err
}

func (b *timedBody) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// hastyWriter answers at once although the body has not come: the server would wait for it, to use
// the connection again.
type hastyWriter struct {
	http.ResponseWriter
	body *timedBody
}

// Unwrap lets http.ResponseController find the connection.
func (w hastyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w hastyWriter) WriteHeader(status int) {
	if !w.body.isOver() {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w hastyWriter) Write(p []byte) (int, error) {
	if !w.body.isOver() {
		w.Header().Set("Connection", "close") // it has no effect once the header is out
	}
	return w.ResponseWriter.Write(p)
}

// draft is a response that is not sent before it is whole: what goes wrong while its body is made can
// still change its status.
type draft struct {
	header http.Header
	status int
	body   []byte
}

func newDraft(w http.ResponseWriter) *draft { return &draft{header: w.Header().Clone()} }

// Header implements http.ResponseWriter.
func (d *draft) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *draft) WriteHeader(status int) {
	if d.status == 0 {
		d.status = status
	}
}

// Write implements http.ResponseWriter.
func (d *draft) Write(p []byte) (int, error) {
	d.body = append(d.body, p...)
	return len(p), nil
}

// send gives the response to its client.
func (d *draft) send(w http.ResponseWriter) {
	to := w.Header()
	clear(to)
	for name, values := range d.header {
		to[name] = values
	}
	if d.status != 0 {
		w.WriteHeader(d.status)
	}
	_, _ = w.Write(d.body) // the client is gone: nobody is left to be told
}
