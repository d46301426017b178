package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// buildClock makes the program with a wall clock that can be set: the program as it is, but for
// package time, whose Now adds an offset to what the system says. A clock cannot be set for one
// process, and an offset in our own code would miss what the libraries read.
var buildClock = sync.OnceValues(func() (string, error) {
	usual, err := build()
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(usual) // which TestMain removes
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	changed := filepath.Join(dir, "time.go")
	if err := changeTime(source, changed); err != nil {
		return "", err
	}
	added, err := filepath.Abs("testdata/clock/clock.go")
	if err != nil {
		return "", err
	}
	place, err := filepath.Abs("../../cmd/notifier/clock.go")
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed, place: added}})
	if err != nil {
		return "", err
	}
	list, path := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "notifier-clock")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-overlay", list, "-tags", "clocktest", "-o", path, "notifier/cmd/notifier")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program with a clock of its own: %w\n%s", err, out)
	}
	return path, nil
})

// changeTime lets the wall clock of package time be moved, and leaves its monotonic clock alone.
func changeTime(source, changed string) error {
	b, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	text := string(b)
	for _, edit := range [][2]string{
		{"\n\t\"math/bits\"\n", "\n\t\"math/bits\"\n\t\"sync/atomic\"\n"},
		{"\n//go:linkname Now\n", "\nvar wallMoved atomic.Int64\n\nfunc MoveWallClock(seconds int64) { wallMoved.Store(seconds) }\n\n//go:linkname Now\n"},
		{"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += wallMoved.Load()\n"},
	} {
		if strings.Count(text, edit[0]) != 1 {
			return fmt.Errorf("package time of this Go is not as expected: %q is not in %s once", edit[0], source)
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	return os.WriteFile(changed, []byte(text), 0o600)
}

// newClockEnv is newCoreEnv with a wall clock that can be set. NOTIFIER_CLOCK_BINARY names a program
// that reads NOTIFIER_CLOCK_FILE as testdata/clock does.
func newClockEnv(t *testing.T, settings ...string) *coreEnv {
	t.Helper()
	c := newCoreEnv(t, settings...)
	c.program = os.Getenv("NOTIFIER_CLOCK_BINARY")
	if c.program == "" {
		var err error
		if c.program, err = buildClock(); err != nil {
			t.Fatal(err)
		}
	}
	c.clock = filepath.Join(t.TempDir(), "clock")
	c.settings = append(c.settings, "NOTIFIER_CLOCK_FILE="+c.clock)
	return c
}

// setClock sets the program's wall clock so far ahead of the system's.
func (c *coreEnv) setClock(ahead time.Duration) {
	c.t.Helper()
	next := c.clock + ".next"
	if err := os.WriteFile(next, []byte(ahead.String()), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, c.clock); err != nil { // so that nobody reads half of it
		c.t.Fatal(err)
	}
}

// stepClock sets the wall clock of a running service, and waits until that shows.
func (c *coreEnv) stepClock(v *service, ahead time.Duration) {
	c.t.Helper()
	c.setClock(ahead)
	c.wait(20*time.Second, "the clock's step showed", func() bool {
		id := c.say(v, 100, "what time is it")
		created, err := time.Parse(time.RFC3339, fmt.Sprint(c.message(v, id)["createdAt"]))
		return err == nil && time.Until(created) > ahead/2 || strings.Contains(c.problems(v), `"code":"clock"`)
	})
	c.wantState(v, c.say(v, 100, "after the step"), "sent", 20*time.Second)
}

// gated lets a chat be told to wait, and returns the message that waits for it.
func (c *coreEnv) gated(v *service, chat int64, wait time.Duration) int64 {
	c.t.Helper()
	c.fault(chat, 1, sandbox.Respond{Status: 429, RetryAfter: seconds(wait.Seconds())})
	id := c.say(v, chat, "it waits")
	c.wait(15*time.Second, "the chat was told to wait", func() bool {
		return c.answered(chat) == 1 && c.state(v, id) == "pending" && c.show(v, fmt.Sprintf("/chats/%d", chat))["gateUntil"] != nil
	})
	return id
}

// A clock that is set wrong while the service runs ends and erases nothing: neither is undone by
// setting it right.
func TestH5NothingExpiresWhenTheClockStepsForward(t *testing.T) {
	t.Parallel()
	const ahead = 4 * 24 * time.Hour
	c := newClockEnv(t, "NOTIFIER_PURGE_SCHEDULE=@every 2s", "NOTIFIER_RETENTION_SENT=24h")
	v := c.serve()
	sent := c.say(v, 1, "a text to keep")
	c.wantState(v, sent, "sent", 15*time.Second)
	waiting := c.gated(v, 7, 6*time.Hour)
	c.setClock(ahead) // nothing is sent meanwhile that would tell Telegram's time
	erased := func() bool { return c.message(v, sent)["erased"] == true }
	ended := func() bool { return c.state(v, waiting) != "pending" }
	if becomes(7*time.Second, func() bool { return ended() && erased() }) || ended() || erased() { // three purges are due
		t.Errorf("after a step of %v: what waits is %s; what was sent is erased: %v", ahead, c.explain(v, waiting), erased())
	}
	c.stepClock(v, ahead) // it has stepped, and Telegram does not agree
	if !strings.Contains(c.problems(v), `"code":"clock"`) {
		t.Errorf("/readyz does not speak of the clock: %s", c.problems(v))
	}
	// Once Telegram says so too, it is true.
	c.date.Store(int64(ahead))
	c.wantState(v, c.say(v, 100, "and now"), "sent", 20*time.Second)
	c.wantState(v, waiting, "dead", 90*time.Second)
	c.endTold(v)
}

// A chat that Telegram told us to leave alone is left alone for so long, whatever the clock says.
func TestH20AGateHoldsWhenTheClockStepsForward(t *testing.T) {
	t.Parallel()
	c := newClockEnv(t)
	v := c.serve()
	waiting := c.gated(v, 7, 10*time.Minute)
	c.stepClock(v, time.Hour)
	if becomes(4*time.Second, func() bool { return len(c.sends(7)) > 1 }) {
		calls := c.sends(7)
		t.Errorf("told to wait for 10 min, the chat was called again after %v: %s", calls[1].ReceivedAt.Sub(calls[0].ReceivedAt), c.explain(v, waiting))
	}
	c.endTold(v)
}

// A chat that looks unreachable is probed for an hour or so; after that each message to it is tried
// once, and none dies untried.
func TestH16EachMessageToADoubtfulChatIsTriedOnce(t *testing.T) {
	t.Parallel()
	c := newClockEnv(t)
	v := c.serve()
	c.fault(7, 0, sandbox.Respond{Status: 400, Description: "Bad Request: chat not found", Delay: 300 * time.Millisecond})
	first := c.say(v, 7, "the first")
	probed := func(n int) {
		c.wait(15*time.Second, fmt.Sprintf("%d calls were answered", n), func() bool {
			attempts, _ := c.message(v, first)["attempts"].([]any)
			return len(attempts) == n && c.state(v, first) != "sending"
		})
	}
	probed(1)
	var passed time.Duration
	for i, wait := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
		c.end(v)
		passed += wait + 5*time.Second
		c.setClock(passed)
		c.date.Store(int64(passed))
		v = c.serve()
		probed(i + 2)
	}
	c.wantState(v, first, "dead", 10*time.Second)
	var later []int64
	for i := range 3 {
		later = append(later, c.say(v, 7, fmt.Sprint("later ", i)))
	}
	for _, id := range later {
		c.wantState(v, id, "dead", 20*time.Second)
		if attempts, _ := c.message(v, id)["attempts"].([]any); len(attempts) != 1 {
			t.Errorf("message %d was tried %d times: %s", id, len(attempts), c.explain(v, id))
		}
	}
	if n := len(c.sends(7)); n != 7 {
		t.Errorf("%d calls, want 4 for the first message and one for each of the 3 later ones", n)
	}
	c.endTold(v)
}
