package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"notifier/internal/database"
	"notifier/internal/httpapi"
)

// hold keeps the turn to write until the returned function is called.
func (s *shop) hold() (release func()) {
	held, done, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_ = s.db.Write(context.Background(), func(database.Tx) error {
			close(held)
			<-done
			return nil
		})
	}()
	<-held
	release = sync.OnceFunc(func() { close(done); <-over })
	s.t.Cleanup(release)
	return release
}

// Field case SE-5 (b) and (c): not ready while nothing can be committed, and ready again by
// itself; other troubles are told and leave it ready.
func TestSE5ReadinessIsHonest(t *testing.T) {
	var problems []httpapi.Problem
	s := open(t, func(c *httpapi.Config) { c.Problems = func(context.Context) []httpapi.Problem { return problems } })
	s.api.HurryReadiness(50 * time.Millisecond)
	if r := s.get("/readyz").want(http.StatusOK); strings.TrimSpace(string(r.body)) != `{"status":"ok","problems":[]}` {
		t.Errorf("idle: %s", r.body)
	}
	release := s.hold()
	r := s.get("/readyz").want(http.StatusServiceUnavailable)
	if r.field("status") != "down" || r.field("problems", 0, "code") != "orders_not_committed" {
		t.Errorf("locked: %s", r.body)
	}
	s.get("/livez").want(http.StatusOK)
	release()
	problems = []httpapi.Problem{{Code: "telegram_unreachable", Detail: "no answer for 2m"}}
	s.api.HurryReadiness(10 * time.Second)
	r = s.get("/readyz").want(http.StatusOK)
	if r.field("status") != "degraded" || r.field("problems", 0, "detail") != "no answer for 2m" {
		t.Errorf("Telegram down: %s", r.body)
	}
}

// Field case OB-16: a request that does not get its turn is told to come again, and leaves nothing.
func TestOB16ALockedDatabaseIs503(t *testing.T) {
	s := open(t)
	s.api.HurryWrites(20 * time.Millisecond)
	release := s.hold()
	r := s.post("/orders", anOrder, "Idempotency-Key: k").refused(http.StatusServiceUnavailable, "storage_unavailable", "")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	release()
	if got := s.counts(); got != [3]int{} {
		t.Errorf("orders, messages, keys: %v", got)
	}
	if !strings.Contains(s.log.String(), "POST /orders") || strings.Contains(s.log.String(), "Anna") {
		t.Errorf("log: %s", s.log)
	}
	s.post("/orders", anOrder, "Idempotency-Key: k").want(http.StatusCreated)
}

func TestUnexpectedErrorsHaveAnIDThatIsInTheLog(t *testing.T) {
	s := open(t)
	s.sql("ALTER TABLE notifier_orders RENAME TO mislaid")
	r := s.get("/orders/1").refused(http.StatusInternalServerError, "internal_error", "")
	id, _ := r.field("errorId").(string)
	if id == "" || !strings.Contains(s.log.String(), id) || strings.Contains(string(r.body), "notifier_orders") {
		t.Errorf("answer %s\nlog %s", r.body, s.log)
	}
}

func TestAPanicIsAnAnswerToo(t *testing.T) {
	s := open(t, func(c *httpapi.Config) {
		c.Problems = func(context.Context) []httpapi.Problem { panic("at the disco") }
	})
	r := s.get("/readyz").refused(http.StatusInternalServerError, "internal_error", "")
	id, _ := r.field("errorId").(string)
	if !strings.Contains(s.log.String(), id) || !strings.Contains(s.log.String(), "at the disco") {
		t.Errorf("log %s", s.log)
	}
}

func TestMetricsAreClosedAndThereFromTheStart(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder).want(http.StatusCreated)
	s.post("/messages", `{"chatId":701,"type":"Made-Up","payload":{}}`).want(http.StatusCreated)
	text := string(s.get("/metrics").want(http.StatusOK).body)
	for _, line := range []string{
		`notifier_messages{reason="",state="pending"} 2`,
		`notifier_messages{reason="expired",state="dead"} 0`,
		`notifier_messages_enqueued_total{type="OrderPlaced"} 1`,
		`notifier_messages_enqueued_total{type="other"} 1`,
		`notifier_messages_enqueued_total{type="OrderRefunded"} 0`,
		`notifier_attempts_total{result="uncertain"} 0`,
		`notifier_sender_state{state="running"} 1`,
		`notifier_chats{state="dead"} 0`,
		`notifier_oldest_due_seconds 0`,
		`notifier_send_duration_seconds_count 0`,
		`notifier_database_bytes{file="wal"} `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if strings.Contains(text, "Made-Up") || strings.Contains(text, "701") {
		t.Errorf("an outsider's word is a label:\n%s", text)
	}
}

// A real connection, for what has no meaning in process: deadlines, and headers that are too large.
func TestTheServerHasLimits(t *testing.T) {
	s := open(t)
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(s.api, slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()
	r, err := http.NewRequest(http.MethodGet, server.URL+"/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
	r.Header.Set("X-Padding", strings.Repeat("x", 1<<20))
	answer, err = server.Client().Do(r)
	if err == nil { // the server may also close the connection before all is read
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", answer.StatusCode)
		}
	}
}

// A database that cannot grow stands for a full disk.
func TestAFullDiskIs503UntilThereIsRoom(t *testing.T) {
	s := open(t)
	s.sql("PRAGMA max_page_count = 1") // as few as it has now
	note := strings.Repeat("n", 1000)
	accepted, r := 0, reply{}
	for accepted < 1000 {
		if r = s.post("/messages", `{"chatId":701,"text":"`+note+`"}`); r.status != http.StatusCreated {
			break
		}
		accepted++
	}
	if r.refused(http.StatusServiceUnavailable, "storage_unavailable", "").header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if got := s.counts(); got != [3]int{0, accepted, 0} {
		t.Errorf("orders, messages, keys: %v, and %d were accepted", got, accepted)
	}
	s.sql("PRAGMA max_page_count = 100000")
	s.post("/messages", `{"chatId":701,"text":"`+note+`"}`).want(http.StatusCreated)
}
