package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"notifier/internal/database"
)

// Dispatcher sends what is due. Only one process may use one at a time for a database: whoever
// holds the sender's lock.
//
// One goroutine at a time runs a pass and owns everything below; calls run beside it and bring
// their answers back. Each round of a pass is one transaction that takes in what is new, derives
// the turns that changed, and opens attempts for what is due; the answers are recorded in another.
// What a transaction means for memory is applied after its commit.
type Dispatcher struct {
	db      *database.DB
	box     *Outbox
	sender  Sender
	limiter Limiter
	config  DispatcherConfig
	log     *slog.Logger
	watch   Observer
	holder  string // the word by which this process is known as the one that sends

	turn    chan struct{} // one token: whose pass it is
	wake    chan struct{}
	results chan result
	changed atomic.Bool // there may be something new in the database
	doubt   atomic.Pointer[string]
	outage  atomic.Pointer[time.Time]
	trouble atomic.Pointer[string]

	loaded     bool
	clock      Clock
	stepped    bool // the wall clock was set, and the waits were not looked at since
	machine    channelMachine
	calls      map[int64]call // under way, by their attempts
	probes     int            // under way
	unsaved    []answered     // answers that are not on disk yet
	saveAgain  time.Time
	foreign    int64     // of database.ForeignCommits, as last seen
	looked     time.Time // when that was
	next       time.Time // when the last round said that something will be due by itself
	writes     int64     // how often something was written, as far as this process knows
	lastTask   int64     // the task that had the last slice
	sweep      sweep     // how far the walk over those that are due has come, see grantThrough
	wanted     time.Time // since when the pace alone has held back the next call
	status     SenderStatus
	reconciler reconciler
	report     Report
}

// NewDispatcher returns a dispatcher that has not looked at the database yet.
func NewDispatcher(db *database.DB, box *Outbox, s Sender, p Limiter, c DispatcherConfig) *Dispatcher {
	d := &Dispatcher{
		db: db, box: box, sender: s, limiter: p, config: c, log: c.Logger, watch: c.Observer, holder: rand.Text(),
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), results: make(chan result, c.Concurrency+8),
		calls: map[int64]call{}, clock: NewClock(c.Wall),
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.watch == nil {
		d.watch = nobody{}
	}
	d.turn <- struct{}{}
	return d
}

// Wake tells the dispatcher that this process has committed something.
func (d *Dispatcher) Wake() {
	d.changed.Store(true)
	select {
	case d.wake <- struct{}{}:
	default: // it has not yet heard the last time
	}
}

// Dispatch makes one pass: it sends what is due, and what becomes due meanwhile, until nothing is
// or something holds up the whole channel. It says what it did, and why it could not go on, so
// that whoever started it decides what next. When ctx ends, nothing new is started and calls
// under way are finished and recorded.
func (d *Dispatcher) Dispatch(ctx context.Context) (Report, error) {
	select {
	case <-d.turn:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	defer func() { d.turn <- struct{}{} }()
	d.report = Report{}
	err := d.pass(ctx)
	if err != nil && !Held(err) && !errors.Is(err, context.Canceled) {
		d.tellTrouble(ctx, err)
	} else if ctx.Err() == nil {
		d.trouble.Store(nil)
	}
	d.report.Next = d.next
	if due, errDue := d.countDue(ctx); errDue == nil {
		d.report.Due = due
	}
	return d.report, err
}

// mostDue bounds what countDue counts.
const mostDue = 10_000

// countDue says for how many recipients a message is due.
func (d *Dispatcher) countDue(ctx context.Context) (int, error) {
	if d.report.Attempts == 0 && d.next.IsZero() && d.machine.may(d.clock.Now(), true).held == nil {
		return 0, nil
	}
	n := 0
	err := d.db.Read(context.WithoutCancel(ctx), func(tx database.Tx) (err error) {
		n, err = d.box.due(tx, d.clock.Now())
		return err
	})
	return n, err
}

// due counts the recipients whose turn has come, mostDue of each rank at most.
func (o *Outbox) due(tx database.Tx, now time.Time) (int, error) {
	sum := 0
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		n := 0
		err := tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM notifier_recipients INDEXED BY notifier_recipients_turn
			WHERE channel = ? AND turn_rank = ? AND turn_at IS NOT NULL AND turn_at <= ? LIMIT ?)`,
			o.channel, rank, now.UnixMilli(), mostDue).Scan(&n)
		if err != nil {
			return 0, fmt.Errorf("count what is due: %w", err)
		}
		sum += n
	}
	return sum, nil
}

// pass is the loop of a pass. Each round stores what came back, starts what may start, and waits
// for the next thing to happen.
func (d *Dispatcher) pass(ctx context.Context) error {
	changes, stop := d.db.Watch()
	defer stop()
	var lost error // the right to send: then only what is under way is finished
	for first := true; ; first = false {
		if !d.loaded {
			if err := d.load(ctx); err != nil {
				return fmt.Errorf("begin to dispatch: %w", err)
			}
			d.loaded = true
		}
		d.takeResults()
		d.save(d.clock.Now())
		var o outcomeOfRound
		err := lost
		if len(d.unsaved) == 0 && ctx.Err() == nil && lost == nil { // first what is known must be on disk
			if first && d.nothingNew(ctx) {
				return d.machine.may(d.clock.Now(), true).held
			}
			o, err = d.round(ctx)
		}
		if errors.Is(err, ErrReplaced) {
			lost = err
		}
		underWay := len(d.calls)+d.probes+len(d.unsaved) > 0
		if err != nil || !o.again {
			if !underWay && (err != nil || o.over || ctx.Err() != nil) {
				d.loaded = d.loaded && lost == nil // whoever sends again begins anew
				return errors.Join(err, ctx.Err())
			}
			d.await(ctx, d.wakeAt(ctx, o, err), changes)
		}
	}
}

// nothingNew says that nobody has committed anything since the last round, and that nothing is due
// by itself yet. It reads SQLite's counter and no table.
func (d *Dispatcher) nothingNew(ctx context.Context) bool {
	now := d.clock.Now()
	if d.looked.IsZero() || d.lookAtClock() || d.changed.Load() || len(d.calls)+d.probes > 0 ||
		!d.next.IsZero() && !d.next.After(now) || d.report != (Report{}) {
		return false
	}
	foreign, err := d.db.ForeignCommits(ctx)
	return err == nil && foreign == d.foreign
}

// wakeAt is when the loop has to go on although nothing has happened. While it drains, that is only
// when an answer can be stored.
func (d *Dispatcher) wakeAt(ctx context.Context, o outcomeOfRound, err error) time.Time {
	at := d.saveAgain
	if ctx.Err() != nil || len(d.unsaved) > 0 {
		return at
	}
	if err != nil && !Held(err) {
		return earlier(at, d.clock.Now().Add(patience(err)))
	}
	return earlier(at, o.next) // of what holds up the whole channel the round knows when it is over
}

// nobody is the Observer of a dispatcher that has none.
type nobody struct{}

func (nobody) Attempted(Verdict, time.Duration) {}
func (nobody) Delivered(time.Duration)          {}
func (nobody) Limited(time.Duration)            {}
func (nobody) Mended(int)                       {}

// await waits for an answer, a change in the database, an instant (zero: none), or the end of ctx.
func (d *Dispatcher) await(ctx context.Context, until time.Time, changes <-chan struct{}) {
	var timeout <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(max(0, until.Sub(d.clock.Now())))
		defer timer.Stop()
		timeout = timer.C
	}
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil // only the answers of calls under way are still of interest
		changes = nil
	}
	wake := d.wake
	if ctx.Err() != nil {
		wake = nil
	}
	select {
	case r := <-d.results:
		d.took(r)
	case <-wake:
	case <-changes:
		d.changed.Store(true)
	case <-timeout:
	case <-done:
	}
}

// takeResults takes the answers that are there; those that came together share a commit.
func (d *Dispatcher) takeResults() {
	for {
		select {
		case r := <-d.results:
			d.took(r)
		default:
			return
		}
	}
}

// Schedule says when the safety pass after an instant is due; robfig/cron's schedules are such.
type Schedule interface{ Next(time.Time) time.Time }

// Run makes passes until ctx ends, or until this process has lost the right to send: after commits
// of this process (Wake) and of others, when something becomes due, and on schedule. told hears how
// each pass that did not end well went.
func (d *Dispatcher) Run(ctx context.Context, safety Schedule, told func(Report, error)) error {
	changes, stop := d.db.Watch()
	defer stop()
	for {
		r, err := d.Dispatch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && told != nil {
			told(r, err)
		}
		if errors.Is(err, ErrReplaced) {
			return err
		}
		now := time.Now()
		wait := safety.Next(now).Sub(now)
		if !r.Next.IsZero() {
			wait = min(wait, r.Next.Sub(d.clock.Now()))
		}
		if err != nil { // do not ask in a circle, neither for the channel nor for a broken disk
			wait = max(wait, patience(err))
		}
		timer := time.NewTimer(max(0, wait))
		select {
		case <-timer.C:
			d.reconcile(ctx)
		case <-d.wake:
		case <-changes:
			d.changed.Store(true)
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// patience is the least time between a pass that failed and the next.
func patience(err error) time.Duration {
	if Held(err) {
		return 10 * time.Millisecond // the report knows when it is worth while
	}
	return time.Second
}
