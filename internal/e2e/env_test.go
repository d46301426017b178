package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/outbox"
	"notifier/internal/secret"
	"notifier/internal/telegram"
	"notifier/internal/telegram/ratelimit"
	"notifier/internal/telegram/sandbox"
)

// settings are those of the program that a case may want otherwise.
type settings struct {
	token       string
	rates       ratelimit.Rates
	policy      outbox.Policy
	concurrency int
	batch       int
	timeout     time.Duration
	render      telegram.Renderer
	customers   bool // updates come in, orders are placed, and texts are those that customers read
}

func defaults() settings {
	return settings{
		token:       "123:token",
		rates:       ratelimit.Rates{Bot: 28, Chat: 1, Group: 18},
		policy:      outbox.Policy{TTL: 72 * time.Hour, UnlinkedTTL: 30 * 24 * time.Hour, MaxAttempts: 8, OnUncertain: outbox.OnUncertainResend},
		concurrency: 32, batch: 100, timeout: 30 * time.Second, render: plainText,
	}
}

// env is a database, a sender, and the sandbox that stands for Telegram, in virtual time.
type env struct {
	t    *testing.T
	path string
	settings
	db      *database.DB
	box     *outbox.Outbox
	sandbox *sandbox.Sandbox
	wire    wire
	client  *telegram.Client
	sender  *outbox.Dispatcher
	customerParts
}

// wire is the way to Telegram; cut, nothing leaves.
type wire struct {
	http.RoundTripper
	cut atomic.Bool
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.cut.Load() {
		return nil, &telegram.NotWrittenError{Err: fmt.Errorf("connection refused")}
	}
	return w.RoundTripper.RoundTrip(r)
}

// inEnv runs a test in a fresh env; change, if not nil, says what it wants otherwise.
func inEnv(t *testing.T, change func(*settings), test func(*env)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))) // a bubble begins in 2000, before any time we take
		c := &env{t: t, path: path, settings: defaults(), sandbox: sandbox.New(sandbox.Options{Seed: 1})}
		if change != nil {
			change(&c.settings)
		}
		defer c.sandbox.Close()
		transport := c.sandbox.Transport()
		defer transport.CloseIdleConnections()
		c.wire.RoundTripper = transport
		db, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch(), plans.Log())
		if err != nil {
			t.Fatal(err)
		}
		c.db = db
		defer db.Close() //nolint:errcheck // the test is over
		c.restart()
		defer func() { c.closeCustomers(); c.client.Close() }()
		test(c)
	})
}

// restart begins with a sender that knows only what is on disk.
func (c *env) restart() {
	c.t.Helper()
	c.closeCustomers()
	if c.client != nil {
		c.client.Close()
	}
	client, err := telegram.New(telegram.Options{
		Token: func() (secret.Value, error) { return secret.New(c.token), nil },
		URL:   "http://telegram.invalid", Timeout: c.timeout, Render: c.render, Transport: &c.wire,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	limiter, err := ratelimit.New(c.rates)
	if err != nil {
		c.t.Fatal(err)
	}
	c.client, c.box = client, outbox.New("telegram", c.policy)
	identity, _, _ := strings.Cut(c.token, ":")
	c.sender = outbox.NewDispatcher(c.db, c.box, client, limiter, outbox.DispatcherConfig{
		Identity: identity, Concurrency: c.concurrency, BatchSize: c.batch, SendTimeout: c.timeout,
	})
	if c.customers {
		c.wireCustomers()
	}
}

// plainText renders the texts of these tests.
func plainText(_ string, payload json.RawMessage) (telegram.Rendered, error) {
	var p struct{ Text string }
	err := json.Unmarshal(payload, &p)
	return telegram.Rendered{HTML: p.Text, Plain: p.Text}, err
}

func (c *env) write(fn func(database.Tx) error) {
	c.t.Helper()
	if err := c.db.Write(context.Background(), fn); err != nil {
		c.t.Fatal(err)
	}
	c.sender.Wake()
}

// queue puts a message for a chat into the outbox.
func (c *env) queue(chat int64, text string) int64 {
	c.t.Helper()
	var m outbox.Message
	c.write(func(tx database.Tx) (err error) {
		m, err = c.box.Enqueue(tx, time.Now(), outbox.NewMessage{
			Recipient: fmt.Sprint(chat), Type: "Text", Payload: map[string]string{"text": text},
		})
		return err
	})
	return m.ID
}

// run lets the service run for a time.
func (c *env) run(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if c.customers {
		polled := make(chan struct{})
		go func() {
			defer close(polled)
			c.poller.Run(ctx)
		}()
		defer func() { cancel(); <-polled }()
	}
	if err := c.sender.Run(ctx, every(max(time.Second, d/2000)), nil); err != nil {
		c.t.Error(err)
	}
}

type every time.Duration

func (e every) Next(t time.Time) time.Time { return t.Add(time.Duration(e)) }

func (c *env) message(id int64) (m outbox.Message) {
	c.t.Helper()
	c.write(func(tx database.Tx) (err error) {
		m, err = c.box.Message(tx, id)
		return err
	})
	return m
}

func (c *env) chat(id int64) (r outbox.Recipient) {
	c.t.Helper()
	c.write(func(tx database.Tx) (err error) {
		r, err = c.box.Recipient(tx, fmt.Sprint(id))
		return err
	})
	return r
}

func (c *env) status() (s outbox.SenderStatus) {
	c.t.Helper()
	c.write(func(tx database.Tx) (err error) {
		s, err = c.box.Status(tx, time.Now())
		return err
	})
	return s
}

func (c *env) fault(f sandbox.Fault) {
	c.t.Helper()
	if _, err := c.sandbox.AddFault(f); err != nil {
		c.t.Fatal(err)
	}
}

func (c *env) limits(change func(*sandbox.Limits)) {
	c.t.Helper()
	l := c.sandbox.Limits()
	change(&l)
	if err := c.sandbox.SetLimits(l); err != nil {
		c.t.Fatal(err)
	}
}

// sends are the calls of sendMessage to a chat; to all chats with 0.
func (c *env) sends(chat int64) (calls []sandbox.Call) {
	for _, call := range c.sandbox.Calls() {
		if call.Method == "sendMessage" && (chat == 0 || call.ChatID == chat) {
			calls = append(calls, call)
		}
	}
	return calls
}

// texts are what a chat shows.
func (c *env) texts(chat int64) (texts []string) {
	for _, m := range c.sandbox.Messages() {
		if m.ChatID == chat {
			texts = append(texts, m.VisibleText)
		}
	}
	return texts
}

func (c *env) wantTexts(chat int64, want ...string) {
	c.t.Helper()
	if got := c.texts(chat); fmt.Sprint(got) != fmt.Sprint(want) {
		c.t.Errorf("chat %d shows %q, want %q", chat, got, want)
	}
}

func (c *env) wantSent(ids ...int64) {
	c.t.Helper()
	for _, id := range ids {
		if m := c.message(id); m.State != outbox.StateSent || m.Failures != 0 {
			c.t.Errorf("message %d is %s (%s) with %d counted failures: %s", id, m.State, m.Reason, m.Failures, m.Detail)
		}
	}
}

func seconds(n float64) *float64 { return &n }

func page(text string) *string { return &text }
