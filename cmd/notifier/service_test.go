package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

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
