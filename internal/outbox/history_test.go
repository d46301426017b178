package outbox

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"notifier"
	"notifier/internal/database"
)

// A random history drives the whole core on a real SQLite file under a virtual clock: messages of
// all kinds arrive, people act, chats and the channel fail in every way, writes fail, the process
// is killed. After each step every turn and every count is computed by brute force and compared
// with what is stored; the channel checks each call. Every now and then all faults are lifted, and
// everything must come to its end.
//
// A seed fixes what happens; the product's own jitter and the order of goroutines are not fixed, so
// a failing seed usually fails again, at about the same step.

var (
	historySeed  = flag.Uint64("history.seed", 0, "the one seed of random histories; 0: the usual ones")
	historySteps = flag.Int("history.steps", 0, "the steps of each random history; 0: the usual number")
	historyLoud  = flag.Bool("history.trace", false, "print every step")
)

// long says whether the long forms of random tests were asked for.
func long() bool { return os.Getenv("NOTIFIER_LONG") != "" }

func TestRandomHistories(t *testing.T) {
	seeds, steps := []uint64{1, 2}, 500
	if long() {
		seeds, steps = []uint64{11, 12, 13, 14}, 20_000
	}
	if *historySeed != 0 {
		seeds = []uint64{*historySeed}
	}
	if *historySteps != 0 {
		steps = *historySteps
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runHistory(t, seed, steps) })
	}
}

// history is one random history.
type history struct {
	t        *testing.T
	seed     uint64
	rng      *rand.Rand
	db       *database.DB // of the process that sends
	other    *database.DB // of another process of ours
	raw      *sql.DB      // of a program that knows the table alone, and checks nothing
	box      *Outbox
	channel  *unruly
	process  *process
	offset   atomic.Int64 // of the wall clock, in nanoseconds
	broken   bool         // writes fail at present
	paused   bool
	calmAt   int // the step of the next calm
	step     int
	trace    []string
	chats    []string // those that the history writes to at present
	named    int      // how many chats there were
	keys     int
	plain    map[string]map[int64]bool // see orderly
	guard    int64                     // since when the guard held at the last check
	duesince time.Time
	rested   time.Time // when the rounds were last counted
	mended   atomic.Int64
}

func runHistory(t *testing.T, seed uint64, steps int) {
	path := memoryDir(t) + "/history.db"
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		h := &history{
			t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // chooses what happens
			box:   New("telegram", Policy{TTL: 72 * time.Hour, UnlinkedTTL: 30 * 24 * time.Hour, MaxAttempts: 8, OnUncertain: OnUncertainResend}),
			plain: map[string]map[int64]bool{},
		}
		h.open(path)
		h.channel = newUnruly(h)
		h.begin()
		defer h.close()
		h.calmAt, h.rested = 100, time.Now()
		for h.step = 1; h.step <= steps && !t.Failed(); h.step++ {
			if len(h.chats) < 12 || h.step%40 == 0 {
				h.meet()
			}
			h.act()
			h.live(h.pause())
			h.check()
			if h.step == h.calmAt || h.step == steps {
				h.calm()
				h.calmAt = h.step + 60 + h.rng.IntN(120)
			}
		}
		if t.Failed() {
			t.Logf("seed %d failed at step %d; the last steps:\n%s", seed, h.step-1, strings.Join(h.trace, "\n"))
		}
	})
}

// memoryDir is a folder that costs no wait for a disk where the machine has one.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "notifier-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (h *history) open(path string) {
	for _, db := range []**database.DB{&h.db, &h.other} {
		opened, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion, database.WithoutFileWatch())
		if err != nil {
			h.t.Fatal(err)
		}
		*db = opened
	}
	// SQLite waits for a lock in real time, so the process that meets one does not wait long.
	h.must(h.db.Write(context.Background(), func(tx database.Tx) error {
		var ms int
		return tx.QueryRow(`PRAGMA busy_timeout = 5`).Scan(&ms)
	}))
	raw, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=ignore_check_constraints(1)")
	h.must(err)
	raw.SetMaxOpenConns(1)
	h.raw = raw
}

func (h *history) close() {
	h.process.stop()
	for _, err := range []error{h.raw.Close(), h.other.Close(), h.db.Close()} {
		if err != nil {
			h.t.Error(err)
		}
	}
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("seed %d, step %d: %v\n%s", h.seed, h.step, err, strings.Join(h.trace, "\n"))
	}
}

// note adds a line to the trace of the last steps.
func (h *history) note(format string, args ...any) {
	line := fmt.Sprintf("%5d %s  ", h.step, time.Now().Format("02T15:04:05.000")) + fmt.Sprintf(format, args...)
	if *historyLoud {
		h.t.Log(line)
	}
	h.trace = append(h.trace, line)
	h.trace = h.trace[max(0, len(h.trace)-40):]
}

// wrong reports an invariant that does not hold.
func (h *history) wrong(format string, args ...any) {
	h.t.Errorf("seed %d, step %d: "+format, append([]any{h.seed, h.step}, args...)...)
}

// wall is what the machine's clock says.
func (h *history) wall() time.Time { return time.Now().Add(time.Duration(h.offset.Load())) }

// pause is how long nothing happens after a step.
func (h *history) pause() time.Duration {
	switch n := h.rng.IntN(100); {
	case h.broken: // each second the process tries all its work again, which takes real time
		return time.Duration(h.rng.IntN(5000)) * time.Millisecond
	case n < 60:
		return time.Duration(h.rng.IntN(400)) * time.Millisecond
	case n < 90:
		return time.Duration(h.rng.IntN(30_000)) * time.Millisecond
	case n < 98:
		return time.Duration(h.rng.IntN(600)) * time.Second
	}
	return time.Duration(h.rng.IntN(180)) * time.Minute
}

// live lets time pass, and begins a new process where one was killed.
func (h *history) live(d time.Duration) {
	h.process.rhythm.Store(int64(max(time.Second, d/20)))
	for until := time.Now().Add(d); ; {
		select {
		case <-time.After(time.Until(until)):
			synctest.Wait()
			return
		case <-h.process.done:
			h.note("the process has ended: %v", h.process.end)
			h.begin()
		}
	}
}

// calm lifts all faults, and then everything must come to its end within four hours.
func (h *history) calm() {
	h.note("calm")
	h.mend()
	if h.rng.IntN(2) == 0 {
		h.offset.Store(0)
	}
	h.channel.set(healthy, "")
	h.channel.healAll()
	h.ours("resume", func(tx database.Tx) error {
		if err := h.box.ReleaseSender(tx, h.wall()); err != nil {
			return err
		}
		return h.box.Resume(tx, h.wall(), "", 0)
	})
	h.paused = false
	h.live(4 * time.Hour)
	h.check()
	h.checkEnds()
	if h.offset.Load() == 0 {
		_, err := h.box.Purge(context.Background(), h.db, h.wall(), Retention{Sent: time.Hour, Dead: 2 * time.Hour, Keys: 6 * time.Hour}, false)
		h.must(err)
		h.forget()
	}
	h.channel.spoil()
}
