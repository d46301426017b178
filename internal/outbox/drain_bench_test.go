package outbox

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"notifier"
	"notifier/internal/database"
)

// swift is a channel that accepts everything at once.
type swift struct{}

func (swift) Compose(Draft) (Composed, error) { return nil, nil }
func (swift) Send(context.Context, string, Composed) CallResult {
	return CallResult{Verdict: Accepted, OK: true, Answered: true, RemoteID: 1, Date: time.Now()}
}
func (swift) Identify(context.Context) CallResult {
	return CallResult{Verdict: Accepted, OK: true, Answered: true}
}
func (swift) Touch(context.Context, string) CallResult {
	return CallResult{Verdict: Accepted, OK: true, Answered: true}
}

// noLimit is a pace without limits.
type noLimit struct{}

func (noLimit) Room(time.Time) (int, time.Time)          { return 1 << 20, time.Time{} }
func (noLimit) NextTo(_ string, now time.Time) time.Time { return now }
func (noLimit) Started(string, time.Time)                {}
func (noLimit) Ended(string, time.Time, time.Time, bool) {}
func (noLimit) Slow(time.Time)                           {}

// BenchmarkDrain sends messages, one to each recipient, through a channel that takes no time.
func BenchmarkDrain(b *testing.B) {
	db, err := database.Open(context.Background(), filepath.Join(b.TempDir(), "bench.db"), notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the benchmark is over
	box := New("telegram", Policy{TTL: 72 * time.Hour, UnlinkedTTL: 720 * time.Hour, MaxAttempts: 8, OnUncertain: OnUncertainResend})
	for n := 0; n < b.N; n += 1000 {
		err := db.Write(context.Background(), func(tx database.Tx) error {
			for i := n; i < min(n+1000, b.N); i++ {
				if _, err := box.Enqueue(tx, time.Now(), NewMessage{Recipient: fmt.Sprint(7000000 + i), Type: "Text", Payload: map[string]string{"text": "hello"}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	d := NewDispatcher(db, box, swift{}, noLimit{}, DispatcherConfig{Identity: "1", Concurrency: 128, BatchSize: 100, SendTimeout: 30 * time.Second})
	b.ResetTimer()
	r, err := d.Dispatch(context.Background())
	if err != nil || r.Sent != b.N {
		b.Fatal(r, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
