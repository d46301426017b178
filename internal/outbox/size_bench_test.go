package outbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"notifier"
	"notifier/internal/bigtable"
	"notifier/internal/database"
)

// bench is one file of a size, with a dispatcher that sends to nobody.
type bench struct {
	b    *testing.B
	db   *database.DB
	box  *Outbox
	d    *Dispatcher
	took map[string][]time.Duration
	lock time.Duration // the longest write since it was last set to 0
}

func newBench(b *testing.B, name string, size bigtable.Size) *bench {
	b.Helper()
	path := filepath.Join(b.TempDir(), name+".db")
	began := time.Now()
	if err := bigtable.Make(path, size); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%s: %d sent and %d waiting in %d MB, made in %v", name, size.Sent, size.Pending, info.Size()>>20, time.Since(began).Round(time.Second))
	db, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	n := &bench{b: b, db: db, box: New("telegram", Policy{TTL: 7200 * time.Hour, UnlinkedTTL: 7200 * time.Hour, MaxAttempts: 8, OnUncertain: OnUncertainResend}), took: map[string][]time.Duration{}}
	n.d = NewDispatcher(db, n.box, swift{}, noLimit{}, DispatcherConfig{Identity: "123", Concurrency: 100, BatchSize: 100, SendTimeout: 30 * time.Second})
	n.time("start", func() { n.must(n.d.load(context.Background())) })
	return n
}

func (n *bench) must(err error) {
	n.b.Helper()
	if err != nil {
		n.b.Fatal(err)
	}
}

func (n *bench) time(what string, do func()) {
	began := time.Now()
	do()
	n.took[what] = append(n.took[what], time.Since(began))
}

// write measures how long a transaction holds the write lock.
func (n *bench) write(fn func(tx database.Tx) error) {
	n.b.Helper()
	began := time.Now()
	n.must(n.db.Write(context.Background(), fn))
	n.lock = max(n.lock, time.Since(began))
}

// batch takes 100 due messages, and records that they were accepted.
func (n *bench) batch() {
	var r *round
	n.time("take 100", func() {
		n.write(func(tx database.Tx) error {
			now := n.d.clock.Now()
			r = &round{d: n.d, now: now, wall: now, machine: n.d.machine}
			return r.run(tx)
		})
	})
	if len(r.granted) != 100 {
		n.b.Fatalf("%d were granted: %v", len(r.granted), r.held)
	}
	n.d.machine = r.machine
	for _, c := range r.granted {
		n.d.unsaved = append(n.d.unsaved, answered{c, CallResult{Verdict: Accepted, OK: true, Answered: true, RemoteID: 1}, n.d.clock.Now()})
	}
	n.time("record 100", func() { n.d.save(n.d.clock.Now()) })
}

// act does something to many messages, to its last slice, and notes the longest write.
func (n *bench) act(what string, fn func(tx database.Tx) error) {
	n.lock = 0
	n.write(fn)
	for more := true; more; {
		n.write(func(tx database.Tx) error {
			id, err := n.box.runTask(tx, time.Now(), 0)
			more = id != 0
			return err
		})
	}
	n.took[what] = append(n.took[what], n.lock)
}

// refused records a 403 of a chat.
func (n *bench) refused(address string) {
	n.act("longest write of a 403", func(tx database.Tx) error {
		r, err := n.box.Recipient(tx, address)
		if err != nil {
			return err
		}
		c := call{attempt: -1, message: -1, address: address, epoch: r.epoch}
		out := judge(Message{}, r, CallResult{Verdict: ChatDead, Reason: RecipientBlocked}, circumstances{epoch: r.epoch}, n.box.policy, time.Now())
		return n.d.applyRecipient(tx, c, false, false, out, CallResult{}, time.Now())
	})
}

func (n *bench) reads() {
	read := func(what string, fn func(tx database.Tx) error) {
		n.time(what, func() { n.must(n.db.Read(context.Background(), fn)) })
	}
	read("oldest due", func(tx database.Tx) error { _, err := n.box.OldestDue(tx, time.Now()); return err })
	read("counts", func(tx database.Tx) error { _, err := n.box.Counts(tx); return err })
	for name, f := range map[string]Filter{
		"list all": {}, "list pending": {State: StatePending}, "list sending": {State: StateSending}, "list sent": {State: StateSent},
		"list dead": {State: StateDead}, "list expired": {Reason: ReasonExpired}, "list a chat": {Recipient: "700000005"},
		"list the gated chat": {Recipient: bigtable.Gated}, "list a customer": {Recipient: bigtable.Forgotten},
	} {
		f.Limit = 100
		read(name, func(tx database.Tx) error { _, err := n.box.Messages(tx, f); return err })
	}
	read("dead chats", func(tx database.Tx) error { _, err := n.box.Recipients(tx, RecipientDead, "", 100); return err })
}

func median(list []time.Duration) time.Duration {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkAtSize compares a small file with one of a million sent and a million waiting messages.
func BenchmarkAtSize(b *testing.B) {
	small, large := newBench(b, "small", bigtable.Small), newBench(b, "large", bigtable.Large)
	for range 5 { // warm up
		small.batch()
		large.batch()
	}
	small.took, large.took = map[string][]time.Duration{"start": small.took["start"]}, map[string][]time.Duration{"start": large.took["start"]}
	for range 40 {
		small.batch()
		large.batch()
	}
	for range 5 {
		small.reads()
		large.reads()
	}
	for i, n := range []*bench{small, large} {
		n.act("longest write of a /stop", func(tx database.Tx) error { return n.box.Stop(tx, time.Now(), "700000007") })
		n.refused("700000008")
		if i == 1 {
			n.act("longest write of a /stop of the chat with 100,000 waiting", func(tx database.Tx) error { return n.box.Stop(tx, time.Now(), bigtable.Gated) })
			n.act("longest write of forgetting 20,000 messages", func(tx database.Tx) error {
				_, err := n.box.Erase(tx, time.Now(), bigtable.Forgotten)
				return err
			})
		}
	}
	fmt.Println(table(small, large)) // b.Log would cut it
}

// table prints the medians side by side.
func table(small, large *bench) string {
	names := make([]string, 0, len(large.took))
	for name := range large.took {
		names = append(names, name)
	}
	slices.Sort(names)
	text := fmt.Sprintf("%-60s %12s %12s %8s\n", "median", "small", "large", "ratio")
	for _, name := range names {
		l := median(large.took[name])
		if small.took[name] == nil {
			text += fmt.Sprintf("%-60s %12s %12v\n", name, "", l.Round(time.Microsecond))
			continue
		}
		s := median(small.took[name])
		text += fmt.Sprintf("%-60s %12v %12v %8.2f\n", name, s.Round(time.Microsecond), l.Round(time.Microsecond), float64(l)/float64(s))
	}
	both := func(n *bench) time.Duration { return (median(n.took["take 100"]) + median(n.took["record 100"])) / 100 }
	return text + fmt.Sprintf("%-60s %12v %12v\n", "take and record, a message", both(small), both(large))
}
