package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"notifier/internal/app"
	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/telegram/sandbox"
)

// sends is how many calls would take something from the original of a copy.
func (c *env) sends() (n int) {
	for _, call := range c.box.Calls() {
		if call.Method == "sendMessage" || call.Method == "getUpdates" {
			n++
		}
	}
	return n
}

// A restored backup comes up paused, says what it would send, and asks Telegram for nothing until a
// person resumes it.
func TestARestoredBackupWaitsForAPerson(t *testing.T) {
	c := newEnv(t)
	for i := range 3 {
		c.want(0, "pending", "message", "send", "--chat", fmt.Sprint(701+i), "--text", "x")
	}
	c.want(0, "begins paused", "backup", "copy.db")
	c.want(exitFailure, "exists already", "backup", "copy.db")
	c.environ = append(c.environ, "DATABASE_URL=copy.db")
	s := c.serve()
	if !strings.Contains(s.out.String(), "3 messages are due") || !strings.Contains(s.out.String(), "notifier resume") {
		t.Errorf("the banner is\n%s", s.out)
	}
	s.log.find(t, `this database is a copy: sending is paused`)
	a := s.ready("database_copy")
	if !strings.Contains(a.text("problems"), "3 messages") {
		t.Errorf("readyz %v", a)
	}
	c.want(0, "paused", "sender")
	s.ready("sender_paused")
	if n := c.sends(); n != 0 {
		t.Errorf("%d calls", n)
	}
	c.want(0, "running", "resume")
	c.delivered(3)
	s.end()
	c.serve().ready("") // the next start is one like any other
}

// A file that was copied with cp while nobody looked is noticed by its inode.
func TestAClonedFileWaitsForAPerson(t *testing.T) {
	c := newEnv(t)
	c.want(0, "pending", "message", "send", "--chat", "701", "--text", "x")
	c.want(0, "1 sent", "dispatch")
	c.want(0, "pending", "message", "send", "--chat", "701", "--text", "y")
	text, err := os.ReadFile(c.databasePath())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("clone.db", text, 0o600); err != nil {
		t.Fatal(err)
	}
	c.environ = append(c.environ, "DATABASE_URL=clone.db")
	before := c.sends()
	c.want(exitWorkLeft, "paused", "dispatch")
	if after := c.sends(); after != before {
		t.Errorf("%d calls", after-before)
	}
	c.want(0, "No process sends", "resume") // none runs: but nothing holds it up any more
	c.want(0, "1 sent", "dispatch", "--until-empty")
}

// Another bot's token makes no call at all, and says so everywhere.
func TestAWrongTokenMakesNoCall(t *testing.T) {
	b := newAlertServer(t)
	c := newEnv(t, b.settings()...)
	c.want(0, "0 sent", "dispatch")
	c.environ = append(c.environ, "TELEGRAM_BOT_TOKEN=2:staging")
	before := len(c.box.Calls())
	s := c.serve()
	s.post("/orders", order("A-1", 701))
	if a := s.ready("sender_stopped"); !strings.Contains(a.text("problems"), "bot 1") {
		t.Errorf("readyz %v", a)
	}
	if n := b.await("sender_stopped"); n != 1 {
		t.Errorf("%d alerts", n)
	}
	b.clean("staging", "Anna", "A-1", "701")
	if n := len(c.box.Calls()); n != before {
		t.Errorf("%d calls with another bot's token: %+v", n-before, c.box.Calls()[before:])
	}
	s.end()
	// What waits was written for the other bot's chats: a person sees how much it is.
	s = c.serve("--accept-new-bot")
	s.out.find(t, `sender +(paused) .*; messages that wait: 1, and .notifier resume. sends them`)
	c.run("resume")
	c.delivered(1)
}

// A clock that is a year ahead erases nothing and ends nothing, and readiness says so; when it is
// right again, what was due to be erased is.
func TestAClockAYearAheadEndsNothing(t *testing.T) {
	c := newEnv(t, "NOTIFIER_PURGE_SCHEDULE=@every 1s")
	var wrong atomic.Bool
	wrong.Store(true)
	c.environ = append(c.environ, "TELEGRAM_API_URL="+withClock(t, c.boxURL, &wrong))
	c.want(0, "pending", "message", "send", "--chat", "701", "--text", "read")
	c.want(0, "pending", "message", "send", "--chat", "702", "--text", "old")
	const day = "86400000"
	c.sql("UPDATE outbox SET state = 'sent', ended_at = created_at - 60 * "+day+" WHERE id = 1",
		"UPDATE outbox SET created_at = created_at - 5 * "+day+" WHERE id = 2")
	s := c.serve()
	c.delivered(1) // it is older than 72 h by our clock, which proves nothing
	if a := s.ready("clock"); !strings.Contains(a.text("problems"), "ahead") {
		t.Errorf("readyz %v", a)
	}
	s.log.find(t, `not purging: the clock of this machine is`)
	c.want(0, "read", "message", "show", "1")
	wrong.Store(false)
	s.post("/messages", `{"chatId":703,"text":"what time is it?"}`)
	s.log.find(t, `purged.*erased=1`)
	s.ready("")
	if out := c.want(0, "sent", "message", "show", "1"); strings.Contains(out, "read") {
		t.Errorf("after the purge\n%s", out)
	}
}

// withClock stands before the sandbox with a clock that is a year behind ours.
func withClock(t *testing.T, address string, wrong *atomic.Bool) string {
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // polls that are cut off
	proxy.ModifyResponse = func(r *http.Response) error {
		if wrong.Load() {
			r.Header.Set("Date", time.Now().AddDate(-1, 0, 0).UTC().Format(http.TimeFormat))
		}
		return nil
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// A full disk takes no orders and sends nothing that could not be recorded; with room again both go
// on by themselves. A database that may not grow stands for it.
func TestAFullDiskIsToldAndOverByItself(t *testing.T) {
	b := newAlertServer(t)
	c := newEnv(t, b.settings()...)
	s, err := config.Load(c.environ, config.Find(""))
	if err != nil {
		t.Fatal(err)
	}
	log := newOutput()
	a, err := app.New(t.Context(), s, newLog(log, slog.LevelInfo, "text"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.AddSender(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.ServeAt(ctx, l) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	b.await("") // all is well
	v := &service{t: t, url: "http://" + l.Addr().String(), out: log, log: log}
	setRoom := func(pages int) {
		err := a.DB().Write(ctx, func(tx database.Tx) error {
			var set int
			return tx.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Scan(&set)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	setRoom(1) // as many as it has
	accepted := 0
	for ; v.try(order(fmt.Sprint("A-", accepted), int64(1000+accepted))) == http.StatusCreated; accepted++ {
		if accepted > 5000 {
			t.Fatal("the disk does not get full")
		}
	}
	b.await("disk_full")
	b.clean("Anna", "A-1")
	setRoom(1 << 20)
	if got := v.try(order("B-1", 999)); got != http.StatusCreated {
		t.Errorf("with room again: %d", got)
	}
	c.delivered(accepted + 1)
	seen := map[int64]int{}
	for _, m := range c.box.Messages() {
		if seen[m.ChatID]++; seen[m.ChatID] > 1 {
			t.Errorf("chat %d got %d messages", m.ChatID, seen[m.ChatID])
		}
	}
	v.ready("")
}

// try posts an order and returns the status; 503 must say when to come again.
func (s *service) try(body string) int {
	s.t.Helper()
	response, err := http.Post(s.url+"/orders", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		s.t.Error("no Retry-After")
	}
	return response.StatusCode
}

// The death of the staff's chat is an alarm and not a quiet row; customers do not feel it.
func TestADeadStaffChatIsAnAlarm(t *testing.T) {
	b := newAlertServer(t)
	c := newEnv(t, append(b.settings(), "NOTIFIER_STAFF_CHAT_ID=-100500")...)
	if _, err := c.box.AddFault(sandbox.Fault{Method: "sendMessage", ChatID: -100500, Times: 1, Respond: sandbox.Respond{
		Status: 403, Description: "Forbidden: bot was kicked from the supergroup chat"}}); err != nil {
		t.Fatal(err)
	}
	s := c.serve()
	s.post("/orders", order("A-1", 701))
	c.delivered(1)
	if a := s.ready("staff_chat_dead"); !strings.Contains(a.text("problems"), "notifier chat revive -100500") {
		t.Errorf("readyz %v", a)
	}
	if n := b.await("staff_chat_dead"); n != 1 {
		t.Errorf("%d alerts", n)
	}
	b.clean("Anna", "A-1", "701", "1:test")
	c.want(0, "open", "chat", "revive", "-100500")
	s.post("/orders", order("A-2", 702))
	c.delivered(3)
	s.ready("")
	if strings.Contains(s.log.String(), "s3cret") {
		t.Errorf("an address is in the log\n%s", s.log)
	}
}
