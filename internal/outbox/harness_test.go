package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"notifier"
	"notifier/internal/database"
)

// variant is a circumstance under which a scenario must come out as it does without it.
type variant string

const (
	asItIs      variant = "as it is"
	onBigTable  variant = "on a big table"  // a great many messages were sent before
	inBatches   variant = "in batches"      // somebody else writes for long, so that answers share a commit
	withWriter  variant = "beside a writer" // another process writes between any two steps
	bigRows             = 20_000            // of a big table in the short form
	bigRowsLong         = 500_000           // and in the long one
)

// exception says that a scenario cannot be the same under a variant, and why.
type exception struct {
	variant variant
	reason  string
}

func not(v variant, reason string) exception { return exception{v, reason} }

// inWorlds runs a scenario as it is, and under each variant.
func inWorlds(t *testing.T, test func(w *world), exceptions ...exception) {
	t.Helper()
	for _, v := range []variant{asItIs, onBigTable, inBatches, withWriter} {
		excepted := false
		for _, e := range exceptions {
			if e.variant == v {
				excepted = true
				t.Logf("not %s: %s", v, e.reason)
			}
		}
		if !excepted {
			t.Run(string(v), func(t *testing.T) { inVariant(t, v, test) })
		}
	}
}

func inVariant(t *testing.T, v variant, test func(w *world)) {
	path := filepath.Join(memoryDir(t), "test.db")
	if v == onBigTable {
		template, err := bigTable()
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(template) //nolint:gosec // our own file
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, path)
		defer w.close()
		defer w.beside(v)()
		test(w)
	})
}

// beside begins what a variant has going on beside the scenario, and returns what ends it.
func (w *world) beside(v variant) func() {
	switch v {
	case inBatches:
		w.channel.latency = 100 * time.Millisecond
		done := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { w.writeLong(done) })
		return func() { close(done); all.Wait() }
	case withWriter:
		other, err := database.Open(context.Background(), w.path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch())
		if err != nil {
			w.t.Fatal(err)
		}
		w.between = (&otherWriter{w: w, db: other, rng: rand.New(rand.NewPCG(7, 7))}).write //nolint:gosec // chooses what is written
		return func() {
			w.between = nil
			if err := other.Close(); err != nil {
				w.t.Error(err)
			}
		}
	case asItIs, onBigTable:
	}
	return func() {}
}

// writeLong holds the turn to write for a while whenever calls begin, so that their answers gather.
func (w *world) writeLong(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-w.channel.began:
		}
		time.Sleep(75 * time.Millisecond) // and so do further calls
		_ = w.db.Write(context.Background(), func(database.Tx) error {
			time.Sleep(200 * time.Millisecond)
			return nil
		})
	}
}

// otherPrefix begins the customers of the other writer.
const otherPrefix = AliasPrefix + "other-"

// otherWriter is a process that writes about its own customers, who never get anything, and about
// the chats of the scenario in ways that must not matter to it.
type otherWriter struct {
	w    *world
	db   *database.DB
	rng  *rand.Rand
	mu   sync.Mutex
	n    int
	mine []int64
}

// write does one thing.
func (o *otherWriter) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.db.Write(context.Background(), o.one)
	var conflict *ConflictError
	if err != nil && !errors.As(err, &conflict) {
		o.w.t.Errorf("the other writer: %v", err)
	}
	_, _ = o.w.db.ForeignCommits(context.Background()) // as the watch of the file does
}

func (o *otherWriter) one(tx database.Tx) error {
	box, now := o.w.box, time.Now()
	o.n++
	customer := fmt.Sprint(otherPrefix, o.n%7)
	switch o.rng.IntN(7) {
	case 0: // a row of a customer without a chat
		_, err := tx.Exec(`INSERT INTO outbox (recipient, type, payload, created_at) VALUES (?, 'Text', '{"text":"other"}', ?)`,
			customer+"-unlinked", now.UnixMilli())
		return err
	case 1: // one that is planned for long after the scenario, for a chat of its own or the scenario's
		m, err := box.Enqueue(tx, now, NewMessage{Recipient: customer, Type: "Text", Payload: map[string]string{"text": "other"},
			NotBefore: now.Add(10 * 365 * 24 * time.Hour)})
		o.mine = append(o.mine, m.ID)
		return err
	case 2:
		return box.Link(tx, now, customer, fmt.Sprint(98000+o.n%5))
	case 3: // a second name for a chat of the scenario
		chat := ""
		err := tx.QueryRow(`SELECT coalesce((SELECT address FROM outbox WHERE address IS NOT NULL AND hold = 0
			AND substr(recipient, 1, 14) <> 'customer:other' ORDER BY id DESC LIMIT 1), '')`).Scan(&chat)
		if err != nil || chat == "" || addressOf(chat, "") == "" {
			return err
		}
		return box.Link(tx, now, customer, chat)
	case 4, 5: // cancel and retry what is planned
		if len(o.mine) == 0 {
			return nil
		}
		id := o.mine[o.rng.IntN(len(o.mine))]
		if _, err := box.Cancel(tx, now, id); err != nil || o.rng.IntN(2) == 0 {
			return err
		}
		_, err := box.Retry(tx, now, id, true)
		return err
	}
	chat := fmt.Sprint(98000 + o.n%5)
	if o.rng.IntN(2) == 0 {
		return box.SignOfLife(tx, now, chat, Sign{At: now, Writable: true})
	}
	return box.Leave(tx, now, chat, now, RecipientBlocked, "blocked")
}

// bigTable makes, once, a file with a great many messages that were sent.
var bigTable = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "notifier-big-")
	if err != nil {
		return "", err
	}
	cleanups = append(cleanups, func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "big.db")
	db, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch())
	if err != nil {
		return "", err
	}
	rows := bigRows
	if long() {
		rows = bigRowsLong
	}
	err = db.Write(context.Background(), func(tx database.Tx) error { return fillWithSent(tx, rows) })
	return path, errors.Join(err, db.Close(), pourLog(path))
})

// cleanups are run after all tests.
var cleanups []func()

func fillWithSent(tx database.Tx, rows int) error {
	for _, statement := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO outbox (recipient, type, payload, created_at, state, address, ready_at, age_from, ended_at, remote_id)
			SELECT 400000000 + i % (?1 / 100), 'Text', '{"text":"sent long ago"}', 1767000000000 + i, 'sent', 400000000 + i % (?1 / 100),
				1767000000000 + i, 1767000000000 + i, 1767000001000 + i, i FROM n`,
		`INSERT INTO notifier_recipients (channel, address, accepted_by) SELECT DISTINCT 'telegram', address, '1' FROM outbox LIMIT ?1`,
		`INSERT INTO notifier_counts (channel, kind, state, n) SELECT 'telegram', 'message', 'sent', count(*) FROM outbox LIMIT ?1`,
		`INSERT INTO notifier_counts (channel, kind, state, n) SELECT 'telegram', 'chat', 'open', count(*) FROM notifier_recipients LIMIT ?1`,
	} {
		if _, err := tx.Exec(statement, rows); err != nil {
			return err
		}
	}
	return nil
}

// pourLog brings what is in the write-ahead log into the file itself, so that it can be copied alone.
func pourLog(path string) error {
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = raw.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	return errors.Join(err, raw.Close())
}
