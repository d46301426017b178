package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// The tests named TestH1 to TestH22 hold one promise of the delivery core each, against the built
// program: HTTP, SQL, signals and the sandbox, nothing else. NOTIFIER_BINARY names the program to
// drive, so that another build can be put to the same questions:
//
//	NOTIFIER_BINARY=/path/to/notifier go test ./internal/e2e -run 'TestH[0-9]+'
//
// NOTIFIER_LONG=1 takes the large tables where the short run takes smaller ones. Most of the time
// these tests wait; -parallel 8 lets more of them wait at once. Those beside large tables run alone.

// coreEnv is a folder where the program runs, with a sandbox whose Date can be moved.
type coreEnv struct {
	*programEnv
	date  atomic.Int64 // how far the sandbox's Date is ahead, in nanoseconds
	clock string       // the file that moves the program's wall clock; empty: it cannot be moved
}

// newCoreEnv has no limits, in the sandbox and in the program, but those that settings name.
func newCoreEnv(t *testing.T, settings ...string) *coreEnv {
	t.Helper()
	c := &coreEnv{programEnv: newProgramEnv(t)}
	if path := os.Getenv("NOTIFIER_BINARY"); path != "" {
		c.program = path
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ahead := c.date.Load(); ahead != 0 {
			w.Header().Set("Date", time.Now().Add(time.Duration(ahead)).UTC().Format(http.TimeFormat))
		}
		c.sandbox.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		c.sandbox.Close()
		server.Close()
	})
	c.settings = append(c.settings, "TELEGRAM_API_URL="+server.URL,
		"NOTIFIER_RATE_BOT=500", "NOTIFIER_RATE_CHAT=100", "NOTIFIER_RATE_GROUP=1000")
	c.settings = append(c.settings, settings...)
	if err := c.sandbox.SetLimits(sandbox.Limits{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// long says whether the large tables are wanted.
func long() bool { return os.Getenv("NOTIFIER_LONG") == "1" }

// fault makes the next calls of sendMessage to a chat go wrong (0: to all chats; times 0: all calls).
func (c *coreEnv) fault(chat int64, times int, r sandbox.Respond) {
	c.t.Helper()
	f := sandbox.Fault{Method: "sendMessage", ChatID: chat, Times: times, Respond: r}
	if _, err := c.sandbox.AddFault(f); err != nil {
		c.t.Fatal(err)
	}
}

// sends are the calls of sendMessage to a chat, oldest first; to all chats with 0.
func (c *coreEnv) sends(chat int64) (calls []sandbox.Call) {
	for _, call := range c.sandbox.Calls() {
		if call.Method == "sendMessage" && (chat == 0 || call.ChatID == chat) {
			calls = append(calls, call)
		}
	}
	return calls
}

// delivered says how often a chat was shown a text.
func (c *coreEnv) delivered(chat int64, text string) (n int) {
	for _, m := range c.sandbox.Messages() {
		if m.ChatID == chat && strings.Contains(m.VisibleText, text) {
			n++
		}
	}
	return n
}

// do posts something that has to be taken, and returns the answer.
func (c *coreEnv) do(v *service, path, body string) map[string]any {
	c.t.Helper()
	status, answer, err := v.post(path, "", body)
	if err != nil || status >= 300 {
		c.t.Fatalf("POST %s %s: %d %v %v", path, body, status, answer, err)
	}
	return answer
}

// say sends a text to a chat and returns the message's id. extra are further fields of the body.
func (c *coreEnv) say(v *service, chat int64, text string, extra ...string) int64 {
	c.t.Helper()
	fields := append([]string{fmt.Sprintf(`"chatId":%d,"text":%q`, chat, text)}, extra...)
	return number(c.do(v, "/messages", "{"+strings.Join(fields, ",")+"}"), "messageId")
}

func number(answer map[string]any, name string) int64 {
	n, _ := answer[name].(float64)
	return int64(n)
}

// at is a time so much from now, as a field of a body.
func at(name string, d time.Duration) string {
	return fmt.Sprintf(`%q:%q`, name, time.Now().Add(d).UTC().Format(time.RFC3339Nano))
}

func (c *coreEnv) show(v *service, path string) map[string]any {
	c.t.Helper()
	status, answer, err := v.get(path)
	if err != nil || status != http.StatusOK {
		c.t.Fatalf("GET %s: %d %v %v", path, status, answer, err)
	}
	return answer
}

// message shows a message with its attempts.
func (c *coreEnv) message(v *service, id int64) map[string]any {
	c.t.Helper()
	return c.show(v, "/messages/"+strconv.FormatInt(id, 10))
}

func (c *coreEnv) state(v *service, id int64) string {
	c.t.Helper()
	return fmt.Sprint(c.message(v, id)["state"])
}

// wantState waits until a message is in a state, and says with what it stays otherwise.
func (c *coreEnv) wantState(v *service, id int64, state string, within time.Duration) {
	c.t.Helper()
	if !becomes(within, func() bool { return c.state(v, id) == state }) {
		c.t.Errorf("message %d is not %s within %v: %s", id, state, within, c.explain(v, id))
	}
}

// explain tells how a message stands, for the words of a failed test.
func (c *coreEnv) explain(v *service, id int64) string {
	c.t.Helper()
	m := c.message(v, id)
	attempts, _ := m["attempts"].([]any)
	text := c.show(v, fmt.Sprintf("/messages/%d/explain", id))["text"]
	return fmt.Sprintf("%v (%v), %d attempts: %v", m["state"], m["reason"], len(attempts), text)
}

// listed counts what a list shows, 500 at most.
func (c *coreEnv) listed(v *service, path string) int {
	c.t.Helper()
	items, _ := c.show(v, path)["items"].([]any)
	return len(items)
}

// problems are what /readyz names.
func (c *coreEnv) problems(v *service) string {
	c.t.Helper()
	_, answer, err := v.get("/readyz")
	if err != nil {
		c.t.Fatal(err)
	}
	b, err := json.Marshal(answer["problems"])
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// becomes waits for something to become so, looking every 20 ms, and says whether it did in time.
func becomes(d time.Duration, so func() bool) bool {
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		if so() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// wait is for what has to happen before the test can go on.
func (c *coreEnv) wait(d time.Duration, what string, so func() bool) {
	c.t.Helper()
	if !becomes(d, so) {
		c.t.Fatalf("within %v it did not happen that %s", d, what)
	}
}

// waitOpen waits until so many calls of sendMessage are under way.
func (c *coreEnv) waitOpen(n int) {
	c.t.Helper()
	c.wait(20*time.Second, fmt.Sprintf("%d calls were under way", n), func() bool { return c.openCalls() == n })
}

// holdWrites takes SQLite's write lock as another program would, until the returned function runs.
func (c *coreEnv) holdWrites() (release func()) {
	c.t.Helper()
	db := c.open()
	conn, err := db.Conn(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		c.t.Fatal(err)
	}
	return func() {
		c.t.Helper()
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			c.t.Fatal(err)
		}
		_ = conn.Close()
	}
}

// open opens the database as another program does.
func (c *coreEnv) open() *sql.DB {
	c.t.Helper()
	db, err := sql.Open("sqlite", "file:"+c.database()+"?_pragma=busy_timeout(60000)")
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = db.Close() })
	return db
}

// count runs a query that counts.
func (c *coreEnv) count(db *sql.DB, query string) (n int) {
	c.t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// cpu is how much processor time a running process has used.
func (c *coreEnv) cpu(v *service) time.Duration {
	c.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.process.Process.Pid))
	if err != nil {
		c.t.Skipf("needs Linux's /proc: %v", err)
	}
	// The name in parentheses may hold spaces; utime and stime are fields 14 and 15 (proc(5)).
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			c.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// end stops the service, which has to end well.
func (c *coreEnv) end(v *service) {
	c.t.Helper()
	if err := v.stop(); err != nil {
		c.t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}
