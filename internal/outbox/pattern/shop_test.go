package pattern

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"notifier"
	"notifier/internal/database"
	"notifier/internal/database/plans"
	"notifier/internal/outbox"
)

// event is what the broker carries.
type event struct {
	ID   int64 // of the outbox row; 0 when there was no outbox
	To   string
	Name string // such as `OrderPlaced {"orderId":1,"totalCents":2500}`
}

// broker is a message broker in memory.
type broker struct {
	mu        sync.Mutex
	down      bool
	failOn    map[int]bool // numbers of calls that fail
	loseOn    map[int]bool // numbers of calls that deliver, but whose answer is lost
	failTo    string       // a recipient that the broker cannot serve
	calls     int
	delivered []event
}

var (
	errDown = errors.New("the broker is down")
	errFail = errors.New("the broker failed")
	errLost = errors.New("the answer was lost")
)

func (b *broker) publish(e event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	switch {
	case b.down:
		return errDown
	case b.failOn[b.calls], b.failTo != "" && e.To == b.failTo:
		return errFail
	}
	b.delivered = append(b.delivered, e)
	if b.loseOn[b.calls] {
		return errLost
	}
	return nil
}

func (b *broker) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := []string{}
	for _, e := range b.delivered {
		names = append(names, e.Name)
	}
	return names
}

// relay makes the broker a Sender: it only says in the outbox's words what the broker answered.
type relay struct{ broker *broker }

func (r relay) Compose(d outbox.Draft) (outbox.Composed, error) {
	return event{ID: d.MessageID, To: d.Address, Name: d.Type + " " + string(d.Payload)}, nil
}

func (r relay) Send(_ context.Context, _ string, l outbox.Composed) outbox.CallResult {
	switch err := r.broker.publish(l.(event)); {
	case err == nil:
		return outbox.CallResult{Verdict: outbox.Accepted, Answered: true, OK: true, Date: time.Now()}
	case errors.Is(err, errDown):
		return outbox.CallResult{Verdict: outbox.NotSent, Detail: err.Error()}
	case errors.Is(err, errLost):
		return outbox.CallResult{Verdict: outbox.Uncertain, Detail: err.Error()}
	default:
		return outbox.CallResult{Verdict: outbox.Failed, Detail: err.Error()}
	}
}

// Identify and Touch ask whether the broker is there.
func (r relay) Identify(context.Context) outbox.CallResult      { return r.ping() }
func (r relay) Touch(context.Context, string) outbox.CallResult { return r.ping() }

func (r relay) ping() outbox.CallResult {
	r.broker.mu.Lock()
	defer r.broker.mu.Unlock()
	return outbox.CallResult{Answered: !r.broker.down, OK: !r.broker.down, Date: time.Now()}
}

// atOnce is a pace without limits.
type atOnce struct{}

func (atOnce) Room(time.Time) (int, time.Time)          { return 1000, time.Time{} }
func (atOnce) NextTo(_ string, now time.Time) time.Time { return now }
func (atOnce) Started(string, time.Time)                {}
func (atOnce) Ended(string, time.Time, time.Time, bool) {}
func (atOnce) Slow(time.Time)                           {}

// shop has a table of orders beside the outbox, and a relay that carries events to the broker.
type shop struct {
	t      *testing.T
	db     *database.DB
	box    *outbox.Outbox
	broker *broker
	relay  *outbox.Dispatcher
}

// inShop runs a test with a fresh shop, under a virtual clock.
func inShop(t *testing.T, batch int, test func(*shop)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))) // a bubble begins in 2000, before any time we take
		ctx := context.Background()
		db, err := database.Open(ctx, path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch(), plans.Log())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() //nolint:errcheck // the test is over
		s := &shop{t: t, db: db, broker: &broker{failOn: map[int]bool{}, loseOn: map[int]bool{}}}
		s.box = outbox.New("events", outbox.Policy{
			TTL: 72 * time.Hour, UnlinkedTTL: time.Hour, MaxAttempts: 8, OnUncertain: outbox.OnUncertainResend,
		})
		if err := db.Write(ctx, s.box.Register); err != nil {
			t.Fatal(err)
		}
		s.relay = outbox.NewDispatcher(db, s.box, relay{s.broker}, atOnce{}, outbox.DispatcherConfig{
			Identity: "relay", Concurrency: 1, BatchSize: batch, SendTimeout: time.Minute,
		})
		s.write(func(tx database.Tx) error {
			_, err := tx.Exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, total_cents INTEGER NOT NULL)`)
			return err
		})
		test(s)
	})
}

func (s *shop) write(fn func(database.Tx) error) {
	s.t.Helper()
	if err := s.db.Write(context.Background(), fn); err != nil {
		s.t.Fatal(err)
	}
}

// insertOrder writes an order and returns its event.
func insertOrder(tx database.Tx, total int64) (orderPlaced, error) {
	var id int64
	err := tx.QueryRow(`INSERT INTO orders (total_cents) VALUES (?) RETURNING id`, total).Scan(&id)
	return orderPlaced{OrderID: id, TotalCents: total}, err
}

type orderPlaced struct {
	OrderID    int64 `json:"orderId"`
	TotalCents int64 `json:"totalCents"`
}

func (p orderPlaced) String() string {
	b, _ := json.Marshal(p)
	return "OrderPlaced " + string(b)
}

// place commits an order and its event together.
func (s *shop) place(to string, total int64) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		e, err := insertOrder(tx, total)
		if err != nil {
			return err
		}
		return s.enqueue(tx, to, e)
	})
}

func (s *shop) enqueue(tx database.Tx, to string, e orderPlaced) error {
	_, err := s.box.Enqueue(tx, time.Now(), outbox.NewMessage{Recipient: to, Type: "OrderPlaced", Payload: e})
	return err
}

func (s *shop) orders() (n int) {
	s.t.Helper()
	s.write(func(tx database.Tx) error { return tx.QueryRow(`SELECT count(*) FROM orders`).Scan(&n) })
	return n
}

// waiting are the events that are still in the table.
func (s *shop) waiting() (n int) {
	s.t.Helper()
	s.write(func(tx database.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM outbox WHERE state <> 'sent'`).Scan(&n)
	})
	return n
}

func (s *shop) pass() outbox.Report {
	s.t.Helper()
	s.relay.Wake()
	r, _ := s.relay.Dispatch(context.Background())
	return r
}

func (s *shop) wantPublished(names ...string) {
	s.t.Helper()
	if got := s.broker.names(); fmt.Sprint(got) != fmt.Sprint(names) {
		s.t.Errorf("published %q, want %q", got, names)
	}
}
