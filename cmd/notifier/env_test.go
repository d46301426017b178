package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/telegram/sandbox"
)

// output is a writer that can be read while somebody writes, and waited on.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newOutput() *output { return &output{changed: make(chan struct{}, 1)} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// find waits until the output matches and returns the first group.
func (o *output) find(t *testing.T, pattern string) string {
	t.Helper()
	re, late := regexp.MustCompile(pattern), time.After(20*time.Second)
	for {
		if m := re.FindStringSubmatch(o.String()); m != nil {
			return m[len(m)-1]
		}
		select {
		case <-o.changed:
		case <-late:
			t.Fatalf("no %q in\n%s", pattern, o)
		}
	}
}

// env is a database and a Telegram, on which the program is run.
type env struct {
	t       *testing.T
	root    string // of the source tree
	environ []string
	box     *sandbox.Sandbox
	boxURL  string
}

func newEnv(t *testing.T, environ ...string) *env {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // no .env of ours
	box := sandbox.New(sandbox.Options{})
	server := httptest.NewServer(box)
	t.Cleanup(func() { box.Close(); server.Close() })
	path := filepath.Join(t.TempDir(), "shop #1?.db")
	if err := createDatabase(path); err != nil {
		t.Fatal(err)
	}
	return &env{t: t, root: root, box: box, boxURL: server.URL, environ: append([]string{
		"TELEGRAM_BOT_TOKEN=1:test", "TELEGRAM_API_URL=" + server.URL, "NOTIFIER_LISTEN=127.0.0.1:0", "DATABASE_URL=" + path,
	}, environ...)}
}

// removeDatabase takes the database away again.
func (c *env) removeDatabase() {
	c.t.Helper()
	for _, pair := range c.environ {
		path, found := strings.CutPrefix(pair, "DATABASE_URL=")
		if !found {
			continue
		}
		if err := os.Remove(path); err != nil {
			c.t.Fatal(err)
		}
	}
}

// createDatabase makes a database, as serve does: most verbs need one.
func createDatabase(path string) error {
	db, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		return err
	}
	return db.Close()
}

// run runs the program to its end.
func (c *env) run(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, err bytes.Buffer
	code = run(c.t.Context(), args, c.environ, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// service is a notifier serve under way.
type service struct {
	t        *testing.T
	url      string
	out, log *output
	end      func() int // ends it as SIGTERM does, and returns its exit code
}

func (c *env) serve(args ...string) *service {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{t: c.t, out: newOutput(), log: newOutput()}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve"}, args...), c.environ, strings.NewReader(""), s.out, s.log)
	}()
	s.end = sync.OnceValue(func() int { cancel(); return <-code })
	c.t.Cleanup(func() { s.end() })
	s.url = s.out.find(c.t, `API +(http://\S+)`)
	s.out.find(c.t, `sender +\w+`)
	return s
}

func (s *service) post(path, body string) object {
	s.t.Helper()
	return s.ask(http.MethodPost, path, body)
}

func (s *service) ask(method, path, body string) object {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	var a object
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		s.t.Fatal(err)
	}
	if response.StatusCode >= 400 && path != "/readyz" {
		s.t.Fatalf("%s %s: %v", method, path, a)
	}
	return a
}

// ready waits until /readyz tells of a problem; with an empty code, until it tells of none.
func (s *service) ready(code string) object {
	s.t.Helper()
	late := time.Now().Add(20 * time.Second)
	for {
		a := s.ask(http.MethodGet, "/readyz", "")
		found := code == "" && a.text("status") == "ok"
		for _, problem := range a.list("problems") {
			found = found || problem.text("code") == code
		}
		if found {
			return a
		}
		if time.Now().After(late) {
			s.t.Fatalf("/readyz says %v, not %q", a, code)
		}
		time.Sleep(20 * time.Millisecond) // there is no event: only asking shows it
	}
}

func order(number string, chat int64) string {
	return fmt.Sprintf(`{"number":%q,"customer":{"id":"c-%d","name":"Anna","chatId":%d},"currency":"EUR","totalCents":2500}`, number, chat, chat)
}

// delivered waits until the sandbox has delivered so many messages.
func (c *env) delivered(n int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	if s, ok := c.box.WaitStats(ctx, func(s sandbox.Stats) bool { return s.Delivered >= n }); !ok {
		c.t.Fatalf("delivered %d of %d", s.Delivered, n)
	}
}
