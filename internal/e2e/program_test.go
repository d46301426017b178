package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/telegram/sandbox"
)

// build makes the program as it is shipped, once for all tests of this package.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "notifier-program-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "notifier")
	c := exec.Command("go", "build", "-o", path, "notifier/cmd/notifier")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := plans.Run(m)
	if path, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// programEnv is where the built program runs: a folder, and a sandbox over loopback.
type programEnv struct {
	t        *testing.T
	program  string
	dir      string
	sandbox  *sandbox.Sandbox
	settings []string
}

func newProgramEnv(t *testing.T, settings ...string) *programEnv {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	box := sandbox.New(sandbox.Options{Seed: 1})
	server := httptest.NewServer(box)
	t.Cleanup(func() {
		box.Close()
		server.Close()
	})
	dir := t.TempDir()
	// Most verbs need a database, and make none.
	db, err := database.Open(context.Background(), filepath.Join(dir, "shop.db"), notifier.Schema, notifier.SchemaVersion)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &programEnv{t: t, program: program, dir: dir, sandbox: box, settings: append([]string{
		"TELEGRAM_BOT_TOKEN=123:token", "TELEGRAM_API_URL=" + server.URL, "NOTIFIER_LISTEN=127.0.0.1:0",
		"DATABASE_URL=shop.db", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
	}, settings...)}
}

func (s *programEnv) database() string { return filepath.Join(s.dir, "shop.db") }

func (s *programEnv) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...) //nolint:gosec // our own program
	c.Dir, c.Env = s.dir, s.settings
	return c
}

// service is a running `notifier serve`.
type service struct {
	t       *testing.T
	process *exec.Cmd
	url     string
	log     *record
	banner  *record
	ended   chan error
}

// record is what a program writes. It can be read meanwhile.
type record struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newRecord() *record { return &record{changed: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// awaitLog waits until the service's log has a line that matches.
func (v *service) awaitLog(pattern string) {
	v.t.Helper()
	re, late := regexp.MustCompile(pattern), time.After(30*time.Second)
	for !re.MatchString(v.log.String()) {
		select {
		case <-v.log.changed:
		case <-late:
			v.t.Fatalf("no %q in\n%s", pattern, v.log)
		}
	}
}

var apiLine = regexp.MustCompile(`API\s+(http://\S+)`)

// serve starts the service and waits until it says where it is.
func (s *programEnv) serve(args ...string) *service {
	s.t.Helper()
	c := s.command(append([]string{"serve"}, args...)...)
	log := newRecord()
	c.Stderr = log
	return s.await(c, log)
}

// await starts a service and waits until it says where it is.
func (s *programEnv) await(c *exec.Cmd, log *record) *service {
	s.t.Helper()
	v := &service{t: s.t, process: c, log: log, banner: newRecord(), ended: make(chan error, 1)}
	out, err := c.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(io.TeeReader(out, v.banner))
	for v.url == "" && lines.Scan() {
		if found := apiLine.FindStringSubmatch(lines.Text()); found != nil {
			v.url = found[1]
		}
	}
	go func() {
		_, _ = io.Copy(v.banner, out)
		v.ended <- c.Wait()
	}()
	if v.url == "" {
		err := <-v.ended
		s.t.Fatalf("the service did not start: %v\n%s", err, v.log)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill() })
	return v
}

func (v *service) kill() {
	_ = v.process.Process.Kill()
	if err := <-v.ended; err == nil {
		v.t.Error("the service ended well although it was killed")
	}
}

// stop asks the service to end, and returns what it ended with.
func (v *service) stop() error {
	_ = v.process.Process.Signal(syscall.SIGTERM)
	return <-v.ended
}

// post sends a request and returns its status and body; an error when there was no answer.
func (v *service) post(path, key, body string) (int, map[string]any, error) {
	r, err := http.NewRequest(http.MethodPost, v.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return answerTo(r)
}

func (v *service) get(path string) (int, map[string]any, error) {
	r, err := http.NewRequest(http.MethodGet, v.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	return answerTo(r)
}

var browser = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func answerTo(r *http.Request) (int, map[string]any, error) {
	response, err := browser.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, err
	}
	var v map[string]any
	if len(body) > 0 {
		err = json.Unmarshal(body, &v)
	}
	return response.StatusCode, v, err
}

// order is the body of an order.
func order(number string, chat int) string {
	return fmt.Sprintf(`{"number":%q,"customer":{"id":"c-%d","name":"Anna","chatId":%d},"currency":"EUR","totalCents":2500}`, number, chat, chat)
}

// python runs a script, or skips the test where there is no Python.
func python(t *testing.T, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3 with its sqlite3 module")
	}
	out, err := exec.Command("python3", args...).CombinedOutput() //nolint:gosec // our own script
	return string(out), err
}
