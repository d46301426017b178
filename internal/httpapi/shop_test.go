package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/httpapi"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// shop is an API on a database of its own. nothing is sent: no dispatcher runs.
type shop struct {
	t     *testing.T
	db    *database.DB
	close func()
	box   *outbox.Outbox
	api   *httpapi.API
	log   *bytes.Buffer
	woken atomic.Int64
}

func open(t *testing.T, change ...func(*httpapi.Config)) *shop {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "shop.db"), change...)
}

func openAt(t *testing.T, path string, change ...func(*httpapi.Config)) *shop {
	t.Helper()
	db, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion, plans.Log())
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, db: db, log: &bytes.Buffer{}}
	s.close = sync.OnceFunc(func() { _ = db.Close() })
	t.Cleanup(s.close)
	s.box = outbox.New("telegram", outbox.Policy{TTL: 72 * time.Hour, UnlinkedTTL: 720 * time.Hour, MaxAttempts: 8, OnUncertain: "resend"})
	registry := prometheus.NewRegistry()
	c := httpapi.Config{
		DB: db, Outbox: s.box, Orders: orders.New(s.box, 0), Version: "test",
		Log: slog.New(slog.NewTextHandler(s.log, nil)), Now: func() time.Time { return now },
		Wake:    func() { s.woken.Add(1) },
		Metrics: httpapi.NewMetrics(registry), Gather: registry,
		CheckText: func(typ string, payload json.RawMessage) error {
			if bytes.Contains(payload, []byte("unsendable")) {
				return errors.New("Telegram would refuse it")
			}
			return nil
		},
	}
	httpapi.RegisterCollector(registry, db, s.box, c.Now)
	for _, f := range change {
		f(&c)
	}
	s.api = httpapi.New(c)
	return s
}

// reply is an answer, read.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// call asks the API in process; headers are "Name: value".
func (s *shop) call(method, target, body string, headers ...string) reply {
	s.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8080"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{s.t, w.Code, w.Header(), b}
}

func (s *shop) post(target, body string, headers ...string) reply {
	s.t.Helper()
	return s.call(http.MethodPost, target, body, headers...)
}

func (s *shop) get(target string) reply {
	s.t.Helper()
	return s.call(http.MethodGet, target, "")
}

// want fails the test unless the reply has this status.
func (r reply) want(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

// refused fails the test unless the reply is a failure with this status and code, well formed and
// naming this field ("" for none).
func (r reply) refused(status int, code, pointer string) reply {
	r.t.Helper()
	r.want(status)
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		r.t.Errorf("content type %q", got)
	}
	var f struct {
		Title, Code, Detail string
		Status              int
		Errors              []struct{ Detail, Pointer string }
	}
	if err := json.Unmarshal(r.body, &f); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	if f.Code != code || f.Status != status || f.Title == "" || f.Detail == "" {
		r.t.Errorf("failure is %s, want code %s", r.body, code)
	}
	if pointer == "" {
		return r
	}
	for _, e := range f.Errors {
		if e.Pointer == pointer && e.Detail != "" {
			return r
		}
	}
	r.t.Errorf("failure does not name %s: %s", pointer, r.body)
	return r
}

// field is one value of the body, found by keys and indexes.
func (r reply) field(way ...any) any {
	r.t.Helper()
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	for _, step := range way {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				r.t.Fatalf("no %v in %s", way, r.body)
			}
			v = m[step]
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				r.t.Fatalf("no %v in %s", way, r.body)
			}
			v = list[step]
		}
	}
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	return v
}

// counts are the rows of orders, messages and keys.
func (s *shop) counts() (n [3]int) {
	s.t.Helper()
	err := s.db.Read(context.Background(), func(tx database.Tx) error {
		return tx.QueryRow(`SELECT (SELECT count(*) FROM notifier_orders), (SELECT count(*) FROM outbox),
			(SELECT count(*) FROM notifier_keys)`).Scan(&n[0], &n[1], &n[2])
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

const anOrder = `{"number":"A-1001","customer":{"id":"c-17","name":"Anna","locale":"ru","chatId":7900000001},` +
	`"currency":"EUR","totalCents":2500,"items":[{"name":"Tea","quantity":2,"unitPriceCents":1250}],"note":"","metadata":{"a":1.50}}`
