package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"notifier"
	"notifier/internal/database"
)

// world is a database, a channel that does what a test tells it, and a dispatcher between them,
// in a bubble where hours pass in no time.
type world struct {
	t       *testing.T
	path    string
	db      *database.DB
	box     *Outbox
	channel *channel
	d       *Dispatcher
	policy  Policy
	config  DispatcherConfig
	between func() // happens between any two steps; may be nil
}

// step lets happen what happens between two steps.
func (w *world) step() {
	if w.between != nil {
		w.between()
	}
}

// inWorld runs a test in a fresh world.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	inVariant(t, asItIs, test)
}

// newWorld makes a world, in a bubble.
func newWorld(t *testing.T, path string) *world {
	time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))) // a bubble begins in 2000, before any time we take
	w := &world{
		t: t, path: path,
		policy:  Policy{TTL: 72 * time.Hour, UnlinkedTTL: 30 * 24 * time.Hour, MaxAttempts: 8, OnUncertain: OnUncertainResend},
		config:  DispatcherConfig{Identity: "1", Concurrency: 32, BatchSize: 100, SendTimeout: 30 * time.Second},
		channel: &channel{latency: 50 * time.Millisecond, calls: map[string]int{}, began: make(chan struct{}, 1)},
	}
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	db, err := database.Open(context.Background(), w.path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch())
	if err != nil {
		w.t.Fatal(err)
	}
	w.db = db
	w.restart()
}

// restart begins with a new dispatcher that knows only what is stored, as after a kill.
func (w *world) restart() {
	w.box = New("telegram", w.policy)
	w.d = NewDispatcher(w.db, w.box, w.channel, &everySecond{last: map[string]time.Time{}}, w.config)
}

func (w *world) close() {
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) write(fn func(tx database.Tx) error) {
	w.t.Helper()
	w.step()
	if err := w.db.Write(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
	w.d.Wake()
}

// put enqueues a message and returns its id.
func (w *world) put(recipient, text string, change ...func(*NewMessage)) int64 {
	w.t.Helper()
	n := NewMessage{Recipient: recipient, Type: "Text", Payload: map[string]string{"text": text}}
	for _, c := range change {
		c(&n)
	}
	var m Message
	w.write(func(tx database.Tx) (err error) {
		m, err = w.box.Enqueue(tx, time.Now(), n)
		return err
	})
	return m.ID
}

func (w *world) message(id int64) Message {
	w.t.Helper()
	var m Message
	w.write(func(tx database.Tx) (err error) {
		m, err = w.box.Message(tx, id)
		return err
	})
	return m
}

func (w *world) recipient(address string) Recipient {
	w.t.Helper()
	var r Recipient
	w.write(func(tx database.Tx) (err error) {
		r, err = w.box.Recipient(tx, address)
		return err
	})
	return r
}

func (w *world) explain(id int64) Explanation {
	w.t.Helper()
	var e Explanation
	w.write(func(tx database.Tx) (err error) {
		e, err = w.box.Explain(tx, time.Now(), id)
		return err
	})
	return e
}

func (w *world) attempts(id int64) []Attempt {
	w.t.Helper()
	var as []Attempt
	w.write(func(tx database.Tx) (err error) {
		as, err = w.box.Attempts(tx, id)
		return err
	})
	return as
}

// pass makes one pass.
func (w *world) pass() (Report, error) {
	w.step()
	return w.d.Dispatch(context.Background())
}

// runFor lets the service run for a time.
func (w *world) runFor(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	w.step()
	var all sync.WaitGroup
	defer all.Wait()
	if w.between != nil {
		all.Go(func() {
			for wait(ctx, d/4) {
				w.step()
			}
		})
	}
	if err := w.d.Run(ctx, every(max(time.Second, d/2000)), nil); err != nil {
		w.t.Error(err)
	}
}

func (w *world) wantState(id int64, s State, reason string) {
	w.t.Helper()
	if m := w.message(id); m.State != s || m.Reason != reason {
		w.t.Errorf("message %d is %s %s (%s), want %s %s", id, m.State, m.Reason, m.Detail, s, reason)
	}
}

// every is how often the safety pass is made.
type every time.Duration

func (e every) Next(t time.Time) time.Time { return t.Add(time.Duration(e)) }

// everySecond is a pacer that keeps one second between the calls to one address, and 30 ms
// between any two.
type everySecond struct {
	last map[string]time.Time
	any  time.Time
}

func (p *everySecond) NextTo(address string, now time.Time) time.Time {
	next := now
	if last, ok := p.last[address]; ok {
		next = latest(next, last.Add(time.Second))
	}
	return next
}

func (p *everySecond) Room(now time.Time) (int, time.Time) {
	if at := p.any.Add(30 * time.Millisecond); at.After(now) {
		return 0, at
	}
	return 1, time.Time{}
}

func (p *everySecond) Started(_ string, at time.Time)                   { p.any = at }
func (p *everySecond) Ended(address string, _, ended time.Time, _ bool) { p.last[address] = ended }
func (p *everySecond) Slow(time.Time)                                   {}

// channel is a Sender in memory. It accepts everything unless a test says otherwise.
type channel struct {
	latency time.Duration
	// send, touch and identify may answer instead; nil or a zero answer leaves it to the channel.
	send     func(address, text string, nth int) CallResult
	touch    func(address string) CallResult
	identify func() CallResult

	began chan struct{} // told of calls that begin

	mu         sync.Mutex
	calls      map[string]int // to each address
	sent       []delivery
	probes     int
	identifies int
}

// delivery is a message that arrived.
type delivery struct {
	address, text string
	at            time.Time
}

type letter struct{ text string }

func (c *channel) Compose(d Draft) (Composed, error) {
	var p struct{ Text string }
	if err := json.Unmarshal(d.Payload, &p); err != nil {
		return nil, &Refusal{ReasonTemplateError, err.Error()}
	}
	if p.Text == "" {
		return nil, &Refusal{ReasonRejected, "the text is empty"}
	}
	if d.Plain {
		p.Text = "plain " + p.Text
	}
	return letter{p.Text}, nil
}

func (c *channel) Send(ctx context.Context, address string, l Composed) CallResult {
	text := l.(letter).text
	c.mu.Lock()
	c.calls[address]++
	nth, send := c.calls[address], c.send
	c.mu.Unlock()
	select {
	case c.began <- struct{}{}:
	default:
	}
	if !wait(ctx, c.latency) {
		return CallResult{Verdict: Uncertain, Detail: "timeout"}
	}
	if send != nil {
		if a := send(address, text, nth); a.Verdict != "" {
			return a
		}
	}
	id := c.deliver(address, text)
	return CallResult{Verdict: Accepted, OK: true, Answered: true, Date: time.Now(), RemoteID: id}
}

func (c *channel) deliver(address, text string) (id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, delivery{address, text, time.Now()})
	return int64(len(c.sent))
}

func (c *channel) Touch(ctx context.Context, address string) CallResult {
	c.mu.Lock()
	c.probes++
	c.mu.Unlock()
	wait(ctx, c.latency)
	if c.touch != nil {
		if a := c.touch(address); a.Verdict != "" {
			return a
		}
	}
	return CallResult{Verdict: Accepted, OK: true, Answered: true, Date: time.Now()}
}

func (c *channel) Identify(ctx context.Context) CallResult {
	c.mu.Lock()
	c.identifies++
	c.mu.Unlock()
	wait(ctx, c.latency)
	if c.identify != nil {
		if a := c.identify(); a.Verdict != "" {
			return a
		}
	}
	return CallResult{Verdict: Accepted, OK: true, Answered: true, Date: time.Now()}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// texts are what arrived at an address, in order; at all of them if it is empty.
func (c *channel) texts(address string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts := []string{}
	for _, d := range c.sent {
		if address == "" || d.address == address {
			texts = append(texts, d.text)
		}
	}
	return texts
}

func (w *world) wantTexts(address string, want ...string) {
	w.t.Helper()
	if got := w.channel.texts(address); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("%s got %q, want %q", address, got, want)
	}
}
