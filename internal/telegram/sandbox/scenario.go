package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A scenario is a file of what was done to a sandbox from outside: one JSON
// object a line, each a request below /sandbox and when it was made.

// step is one line of a scenario.
type step struct {
	At     duration        `json:"at"` // since the beginning
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// The bounds of a recording.
const (
	maxSteps    = 10_000
	maxStepBody = 64 << 10
)

// recorded notes the requests that change something and succeed.
func (s *Sandbox) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/replay") {
			next.ServeHTTP(rw, r)
			return
		}
		w := s.current()
		var body bytes.Buffer
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, &body), r.Body}
		outcome := &outcomeWriter{ResponseWriter: rw, status: http.StatusOK}
		next.ServeHTTP(outcome, r)
		if outcome.status >= http.StatusMultipleChoices || body.Len() > maxStepBody {
			return
		}
		done := step{At: duration(time.Since(w.began).Round(time.Millisecond)), Method: r.Method, Path: r.URL.RequestURI()}
		if json.Valid(body.Bytes()) {
			done.Body = slices.Clip(body.Bytes())
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.steps.add(done, 200+len(done.Path)+len(done.Body))
	})
}

// outcomeWriter remembers the status of an answer.
type outcomeWriter struct {
	http.ResponseWriter
	status int
	body   []byte // of an error
}

func (o *outcomeWriter) WriteHeader(status int) {
	o.status = status
	o.ResponseWriter.WriteHeader(status)
}

func (o *outcomeWriter) Write(data []byte) (int, error) {
	if o.status >= http.StatusMultipleChoices {
		o.body = append(o.body, data...)
	}
	return o.ResponseWriter.Write(data)
}

// showScenario gives what was done since the start as a scenario.
func (s *Sandbox) showScenario(rw http.ResponseWriter, _ *http.Request) {
	w := s.current()
	w.mu.Lock()
	var lines bytes.Buffer
	for _, done := range w.steps.entries {
		lines.Write(encode(done))
		lines.WriteByte('\n')
	}
	w.mu.Unlock()
	answer{status: http.StatusOK, contentType: "application/jsonl", body: lines.Bytes()}.write(rw)
}

// nowhere is where the answers to the steps of a scenario go.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header          { return n.header }
func (nowhere) Write(data []byte) (int, error) { return len(data), nil }
func (nowhere) WriteHeader(int)                {}

// Play does what a scenario says, each step at its time since now, and returns
// when it has ended. It stops at the first line that is no step or is refused;
// the error names the line.
func (s *Sandbox) Play(ctx context.Context, scenario io.Reader) error {
	began := time.Now()
	lines := bufio.NewScanner(scenario)
	lines.Buffer(nil, 2*maxStepBody)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var next step
		if err := decodeStrict(lines.Bytes(), &next); err != nil {
			return fmt.Errorf("line %d of the scenario: %w", number, err)
		}
		if !sleepUntil(ctx, began.Add(time.Duration(next.At))) {
			return ctx.Err()
		}
		if err := s.perform(ctx, next); err != nil {
			return fmt.Errorf("line %d of the scenario: %w", number, err)
		}
	}
	return lines.Err()
}

func (s *Sandbox) perform(ctx context.Context, next step) error {
	request, err := http.NewRequestWithContext(ctx, next.Method, next.Path, bytes.NewReader(next.Body))
	if err != nil {
		return err
	}
	if request.URL.Path != "/sandbox" && !strings.HasPrefix(request.URL.Path, "/sandbox/") {
		return fmt.Errorf("%s is not below /sandbox", next.Path)
	}
	outcome := &outcomeWriter{ResponseWriter: nowhere{http.Header{}}, status: http.StatusOK}
	s.control.ServeHTTP(outcome, request)
	if outcome.status >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s is answered %d: %s", next.Method, next.Path, outcome.status, outcome.body)
	}
	return nil
}
