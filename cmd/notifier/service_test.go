package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	return &env{t: t, root: root, box: box, boxURL: server.URL, environ: append([]string{
		"TELEGRAM_BOT_TOKEN=1:test", "TELEGRAM_API_URL=" + server.URL, "NOTIFIER_LISTEN=127.0.0.1:0",
		"DATABASE_URL=" + filepath.Join(t.TempDir(), "shop #1?.db"),
	}, environ...)}
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

func TestServeDeliversAnOrder(t *testing.T) {
	c := newEnv(t, "NOTIFIER_STAFF_CHAT_ID=-100500")
	s := c.serve()
	s.post("/orders", order("A-1", 701))
	c.delivered(2)
	for _, m := range c.box.Messages() {
		if !strings.Contains(m.VisibleText, "A-1") || !strings.Contains(m.VisibleText, "25.00") {
			t.Errorf("chat %d reads %q", m.ChatID, m.VisibleText)
		}
	}
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	for _, secret := range []string{"1:test", "Anna", "A-1"} {
		if strings.Contains(s.log.String(), secret) || strings.Contains(s.out.String(), secret) {
			t.Errorf("%q is in the log\n%s\n%s", secret, s.out, s.log)
		}
	}
}

// Field case UP-9: orders are taken while Telegram refuses connections, and sent without a restart
// when it is back.
func TestUP9StartUpWithoutTelegram(t *testing.T) {
	c := newEnv(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	c.environ = append(c.environ, "TELEGRAM_API_URL=http://"+address)
	s := c.serve()
	s.post("/orders", order("A-1", 701))
	if a := s.ask(http.MethodGet, "/livez", ""); a.text("status") != "ok" {
		t.Errorf("livez %v", a)
	}
	s.log.find(t, `not sending.*(cannot be reached)`)
	if a := s.ask(http.MethodGet, "/readyz", ""); a.text("status") != "degraded" || !strings.Contains(a.text("problems"), "Telegram cannot be reached") {
		t.Errorf("readyz %v", a)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	back := httptest.NewUnstartedServer(c.box)
	_ = back.Listener.Close()
	back.Listener = l
	back.Start()
	defer back.Close()
	c.delivered(1)
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

// Field case OB-11: what is in flight at the end is finished and recorded; the rest waits untouched.
// sending says whether a message is under way: getMe and the polls are calls, too.
func (c *env) sending() bool {
	return slices.ContainsFunc(c.box.Calls(), func(call sandbox.Call) bool {
		return call.Method == "sendMessage" && call.Outcome == sandbox.OutcomeOpen
	})
}

func TestOB11ShutdownFinishesWhatIsInFlight(t *testing.T) {
	c := newEnv(t)
	l := c.box.Limits()
	l.Latency = 300 * time.Millisecond
	if err := c.box.SetLimits(l); err != nil {
		t.Fatal(err)
	}
	s := c.serve()
	for i := range 3 {
		s.post("/messages", fmt.Sprintf(`{"chatId":701,"text":"message %d"}`, i+1))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !c.sending() {
		calls := c.box.Stats().Calls
		if _, ok := c.box.WaitStats(ctx, func(s sandbox.Stats) bool { return s.Calls > calls }); !ok {
			t.Fatal("no message is being sent")
		}
	}
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	if got := c.box.Stats().Delivered; got != 1 {
		t.Fatalf("%d delivered", got)
	}
	for id, want := range map[string]string{"1": `"state":"sent"`, "2": `"failures":0`, "3": `"attempts":[]`} {
		if _, out, _ := c.run("message", "show", id, "--json"); !strings.Contains(out, want) || strings.Contains(out, "canceled") {
			t.Errorf("message %s: %s", id, out)
		}
	}
}

func TestAStandbyTakesOver(t *testing.T) {
	c := newEnv(t)
	first := c.serve()
	first.log.find(t, "this process sends")
	second := c.serve()
	second.log.find(t, "standby")
	if code, out, _ := c.run("dispatch"); code != 0 || !strings.Contains(out, "sends for this database") {
		t.Errorf("dispatch beside a service: %d %s", code, out)
	}
	second.post("/orders", order("A-1", 701)) // a standby serves HTTP, and the other one sends
	c.delivered(1)
	if code, _, _ := c.run("dispatch", "--until-empty"); code != 0 {
		t.Errorf("dispatch --until-empty beside a service: %d", code)
	}
	if code := first.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, first.log)
	}
	second.log.find(t, "this process sends")
	second.post("/orders", order("A-2", 702))
	c.delivered(2)
}

func TestServeCanBeginPaused(t *testing.T) {
	c := newEnv(t)
	s := c.serve("--paused")
	s.out.find(t, `sender +(paused)`)
	s.post("/orders", order("A-1", 701))
	c.environ = append(c.environ, "NOTIFIER_LOG_LEVEL=error")
	if code, out, _ := c.run("resume"); code != 0 || !strings.Contains(out, "running") {
		t.Errorf("resume: %d %s", code, out)
	}
	c.delivered(1)
}

func TestDispatchSaysWhatIsLeft(t *testing.T) {
	c := newEnv(t)
	if code, out, _ := c.run("dispatch"); code != 0 || !strings.Contains(out, "0 sent") {
		t.Errorf("with nothing to do: %d %s", code, out)
	}
	c.run("message", "send", "--chat", "701", "--text", "x")
	c.run("message", "send", "--chat", "-702", "--text", "y")
	if code, out, log := c.run("dispatch", "--until-empty"); code != 0 || !strings.Contains(out, "2 sent") {
		t.Errorf("with two messages: %d %s%s", code, out, log)
	}
	c.run("pause")
	c.run("message", "send", "--chat", "701", "--text", "z")
	code, _, log := c.run("dispatch")
	if code != exitWorkLeft || !strings.Contains(log, "paused") {
		t.Errorf("paused: %d %s", code, log)
	}
}

func TestServeSaysWhenItsAddressIsTaken(t *testing.T) {
	c := newEnv(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	c.environ = append(c.environ, "NOTIFIER_LISTEN="+l.Addr().String())
	if code, _, log := c.run("serve"); code != exitFailure || !strings.Contains(log, "NOTIFIER_LISTEN") {
		t.Errorf("%d %s", code, log)
	}
}

func TestSandboxPrintsItsAddressFirst(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, code := newOutput(), make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"sandbox", "--listen", "127.0.0.1:0"}, nil, nil, out, newOutput())
	}()
	url := out.find(t, `^\{"url":"(http://127\.0\.0\.1:\d+)"\}\n$`)
	response, err := http.Get(url + "/bot1:x/getMe")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	cancel()
	if c := <-code; c != 0 || response.StatusCode != http.StatusOK {
		t.Errorf("exit code %d, getMe %d", c, response.StatusCode)
	}
}

func TestDemoOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, log bytes.Buffer
	code := run(t.Context(), []string{"demo", "--once"}, []string{"TELEGRAM_BOT_TOKEN=7:real", "NOTIFIER_NONSENSE=1"}, nil, &out, &log)
	if code != 0 || strings.Contains(out.String(), "NOT ") || !strings.Contains(out.String(), "All as it should be.") {
		t.Errorf("exit code %d\n%s%s", code, &out, &log)
	}
}
