package updates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/secret"
	"notifier/internal/telegram"
	"notifier/internal/telegram/sandbox"
)

const botToken = "123:hush-hush-hush-hush-hush"

// env is an inbox between the sandbox and a handler that writes down what it gets, in a bubble
// where time is virtual.
type env struct {
	t       *testing.T
	path    string
	db      *database.DB
	sandbox *sandbox.Sandbox
	wire    wire
	client  *telegram.Client
	inbox   *Inbox
	poller  *Poller
	hold    error
	// effect may fail or panic in the place of the handler.
	effect   func(Event) error
	received []Kind
	// hook is where the webhook leads; nil: nobody is there.
	hook http.Handler
}

// wire is the way to Telegram; cut, nothing leaves.
type wire struct {
	http.RoundTripper
	cut atomic.Bool
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.cut.Load() {
		return nil, &telegram.NotWrittenError{Err: errors.New("connection refused")}
	}
	return w.RoundTripper.RoundTrip(r)
}

// inEnv runs a test in a fresh env.
func inEnv(t *testing.T, test func(r *env)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "env.db")
	synctest.Test(t, func(t *testing.T) {
		r := &env{t: t, path: path}
		r.sandbox = sandbox.New(sandbox.Options{Seed: 1, WebhookTransport: roundTrip(r.deliver)})
		defer r.sandbox.Close()
		transport := r.sandbox.Transport()
		defer transport.CloseIdleConnections()
		r.wire.RoundTripper = transport
		r.open()
		r.write(func(tx database.Tx) error {
			_, err := tx.Exec(`CREATE TABLE heard (n INTEGER PRIMARY KEY, kind TEXT, chat INTEGER, token TEXT)`)
			return err
		})
		defer r.close()
		test(r)
	})
}

// deliver carries an update from the sandbox to the webhook.
func (r *env) deliver(req *http.Request) (*http.Response, error) {
	if r.hook == nil {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	r.hook.ServeHTTP(w, req)
	return w.Result(), nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *env) open() {
	r.t.Helper()
	db, err := database.Open(context.Background(), r.path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch(), plans.Log())
	if err != nil {
		r.t.Fatal(err)
	}
	r.db = db
	r.client, err = telegram.New(telegram.Options{
		Token: func() (secret.Value, error) { return secret.New(botToken), nil },
		URL:   "http://telegram.invalid", Timeout: 10 * time.Second, Transport: &r.wire,
		Render: func(string, json.RawMessage) (telegram.Rendered, error) { return telegram.Rendered{}, nil },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.inbox = NewInbox(InboxOptions{
		DB: db, Handler: r, Client: r.client, Received: func(k Kind) { r.received = append(r.received, k) },
	})
	r.poller = NewPoller(PollerOptions{Client: r.client, Inbox: r.inbox, Hold: func(context.Context) error { return r.hold }})
}

func (r *env) close() {
	r.inbox.Close()
	r.client.Close()
	if err := r.db.Close(); err != nil {
		r.t.Error(err)
	}
}

// reopen begins with what is on disk, as after a kill.
func (r *env) reopen() {
	r.close()
	r.open()
}

func (r *env) write(fn func(database.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(context.Background(), fn); err != nil {
		r.t.Fatal(err)
	}
}

// Handle implements Listener.
func (r *env) Handle(tx database.Tx, _ time.Time, a Event) error {
	_, err := tx.Exec(`INSERT INTO heard (kind, chat, token) VALUES (?, ?, ?)`, a.Kind, a.Chat, a.Token)
	if err == nil && r.effect != nil {
		err = r.effect(a)
	}
	if errors.Is(err, errDiskFull) {
		return fillDisk(tx)
	}
	return err
}

// errDiskFull makes the listener meet a full disk.
var errDiskFull = errors.New("no room")

// fillDisk writes more than there is room for, and returns what the database says to that.
func fillDisk(tx database.Tx) error {
	var pages int64
	if err := tx.QueryRow(`PRAGMA max_page_count = 1`).Scan(&pages); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO heard (kind) VALUES (zeroblob(1000000))`)
	return errors.Join(err, tx.QueryRow(`PRAGMA max_page_count = 1073741823`).Scan(&pages))
}

// heard is what had an effect, in order.
func (r *env) heard() (list []string) {
	r.t.Helper()
	r.write(func(tx database.Tx) error {
		rows, err := tx.Query(`SELECT kind, chat, token FROM heard ORDER BY n`)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end
		for rows.Next() {
			var kind, chat, token string
			if err := rows.Scan(&kind, &chat, &token); err != nil {
				return err
			}
			list = append(list, kind+" "+chat+" "+token)
		}
		return rows.Err()
	})
	return list
}

func (r *env) wantHeard(want ...string) {
	r.t.Helper()
	if got := r.heard(); !slices.Equal(got, want) {
		r.t.Errorf("heard %q, want %q", got, want)
	}
}

// stored are the kinds in the inbox by the order of their ids.
func (r *env) stored() (kinds []string) {
	r.t.Helper()
	r.write(func(tx database.Tx) error {
		rows, err := tx.Query(`SELECT kind FROM notifier_updates ORDER BY update_id`)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end
		for rows.Next() {
			var k string
			if err := rows.Scan(&k); err != nil {
				return err
			}
			kinds = append(kinds, k)
		}
		return rows.Err()
	})
	return kinds
}

// poll lets the poller run for a time.
func (r *env) poll(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	r.poller.Run(ctx)
}

func (r *env) fault(f sandbox.Fault) {
	r.t.Helper()
	if _, err := r.sandbox.AddFault(f); err != nil {
		r.t.Fatal(err)
	}
}

// answers makes the next getUpdates bring this list.
func (r *env) answers(list string) {
	r.t.Helper()
	body := `{"ok":true,"result":[` + list + `]}`
	r.fault(sandbox.Fault{Method: "getUpdates", Times: 1, Respond: sandbox.Respond{Status: 200, Body: &body, ContentType: "application/json"}})
}

// calls are those of a method.
func (r *env) calls(method string) (list []sandbox.Call) {
	for _, c := range r.sandbox.Calls() {
		if c.Method == method {
			list = append(list, c)
		}
	}
	return list
}

// offsets are those of the calls of getUpdates.
func (r *env) offsets() (list []int64) {
	r.t.Helper()
	for _, c := range r.calls("getUpdates") {
		n, err := strconv.ParseInt(c.Params["offset"], 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

func (r *env) wantStatus(code string) {
	r.t.Helper()
	if s := r.poller.Status(time.Now()); s.Code != code {
		r.t.Errorf("the status is %+v, want %s", s, code)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func seconds(n float64) *float64 { return &n }

func words(id int, chat int) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"chat":{"id":%d},"text":"x"}}`, id, chat)
}
