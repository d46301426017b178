package e2e

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What everybody asks all the time – is it well, how much is there, what of this chat – costs the
// same beside a long queue as beside an empty one.
func TestH21ReadsAndStartsBesideALongQueue(t *testing.T) {
	waiting, bound := 120_000, 50*time.Millisecond
	if long() {
		waiting = 1_000_000
	}
	c := newCoreEnv(t, "NOTIFIER_RATE_BOT=28")
	v := c.serve("--paused")
	c.say(v, 900, "the only one")
	c.end(v)
	alone := c.firstCall()
	seedWaiting(t, c.database(), waiting, "CAST(1000000 + n % 60000 AS TEXT)")
	v = c.serve("--paused")
	began := time.Now()
	c.wait(15*time.Minute, "all rows were taken in", func() bool { return c.counted(v, "pending") == waiting })
	t.Logf("%d rows were taken in within %v", waiting, time.Since(began))
	for name, path := range map[string]string{
		"/readyz": "/readyz", "a scrape": "/metrics", "what waits": "/messages?state=pending&limit=50",
		"what of a chat": "/messages?recipient=1000007&limit=50", "what of a chat without any": "/messages?recipient=77&limit=50",
		"what died": "/messages?state=dead&limit=50", "dead chats": "/chats?state=dead",
	} {
		took := c.quickest(v, path)
		t.Logf("beside %d waiting rows, %s took %v", waiting, name, took)
		if took > bound {
			t.Errorf("beside %d waiting rows, %s took %v", waiting, name, took)
		}
	}
	c.end(v)
	took := c.firstCall()
	t.Logf("from the start to the first call: %v beside one waiting row, %v beside %d", alone, took, waiting)
	if took > alone+10*bound {
		t.Errorf("from the start to the first call: %v beside one waiting row, %v beside %d", alone, took, waiting)
	}
	c.failedWritesAreQuick()
}

// failedWritesAreQuick lets no attempt be stored for a while. The program tries again every now and
// then, and reads nothing anew for it.
func (c *coreEnv) failedWritesAreQuick() {
	c.t.Helper()
	before := len(c.sends(0))
	v := c.serve()
	c.wait(time.Minute, "a message went out", func() bool { return len(c.sends(0)) > before })
	db := c.open()
	if _, err := db.Exec(`CREATE TRIGGER no_attempts BEFORE INSERT ON notifier_attempts BEGIN SELECT RAISE(ABORT, 'not now'); END`); err != nil {
		c.t.Fatal(err)
	}
	c.waitOpen(0)
	used := c.cpu(v)
	time.Sleep(4 * time.Second) // what is measured is what is done while nothing can be done
	used = c.cpu(v) - used
	c.t.Logf("4 s without a write took %v of processor time", used)
	if used > 500*time.Millisecond {
		c.t.Errorf("4 s without a write took %v of processor time", used)
	}
	if _, err := db.Exec(`DROP TRIGGER no_attempts`); err != nil {
		c.t.Fatal(err)
	}
	before = len(c.sends(0))
	c.becomesOr(15*time.Second, "sending went on", func() bool { return len(c.sends(0)) > before })
	c.end(v)
}

// firstCall ends the pause, and says how long a start takes until a message goes out. It stops the
// service again.
func (c *coreEnv) firstCall() time.Duration {
	c.t.Helper()
	c.must("resume")
	before := len(c.sends(0))
	began := time.Now()
	v := c.serve()
	c.wait(time.Minute, "a message went out", func() bool { return len(c.sends(0)) > before })
	took := time.Since(began)
	c.end(v)
	return took
}

// quickest is how long the fastest of some requests took, so that a busy machine is not blamed on
// us. Some answers are told again for a second; they are asked for later than that.
func (c *coreEnv) quickest(v *service, path string) time.Duration {
	c.t.Helper()
	best := time.Hour
	for range 4 {
		began := time.Now()
		response, err := browser.Get(v.url + path)
		if err != nil {
			c.t.Errorf("GET %s: %v", path, err)
			return 0
		}
		_ = response.Body.Close()
		best = min(best, time.Since(began))
		if path == "/readyz" {
			time.Sleep(1100 * time.Millisecond) // until the answer is no longer fresh
		}
	}
	return best
}

// counted is how many messages in a state the metrics tell of.
func (c *coreEnv) counted(v *service, state string) (n int) {
	c.t.Helper()
	response, err := browser.Get(v.url + "/metrics")
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(name, "notifier_messages{") && strings.Contains(name, fmt.Sprintf("state=%q", state)) {
			count, err := strconv.ParseFloat(value, 64)
			if err != nil {
				c.t.Fatal(err)
			}
			n += int(count)
		}
	}
	return n
}
