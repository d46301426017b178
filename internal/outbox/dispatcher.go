package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"notifier/internal/database"
)

// Errors with which a pass ends. They say that something holds up the whole channel.
var (
	ErrPaused   = errors.New("sending is paused")
	ErrOutage   = errors.New("the channel cannot be reached")
	ErrStopped  = errors.New("the channel refuses us")
	ErrGated    = errors.New("the channel told us to wait")
	ErrGuarded  = errors.New("too many chats in a row were refused: one message a minute tries")
	ErrIdentity = errors.New("the database belongs to another bot")
)

// DispatcherConfig is what a Dispatcher is told.
type DispatcherConfig struct {
	// Identity is who we are at the channel. A database that has sent as somebody else is refused.
	Identity    string
	Concurrency int           // calls under way at most
	BatchSize   int           // rows read at a time
	SendTimeout time.Duration // of one call
	Logger      *slog.Logger
	Observer    Observer // may be nil
}

// Observer hears what a dispatcher does, for metrics. It must not block.
type Observer interface {
	// Attempted: a call was made, it took so long, and this came of it.
	Attempted(v Verdict, took time.Duration)
	// Delivered: a message was accepted so long after it was created or planned for.
	Delivered(after time.Duration)
	// Limited: a call had to wait so long for the pace.
	Limited(waited time.Duration)
}

// Report is what one pass did.
type Report struct {
	Attempts int // calls that were made
	Sent     int // messages that were accepted
	Ended    int // messages that ended otherwise
	// Due is how many recipients have a message that could go at once if nothing held up the
	// whole channel.
	Due int
	// Next is when something will be due by itself; zero when nothing waits for a time.
	Next time.Time
}

// Dispatcher sends what is due. Only one process may use one at a time for a database: whoever
// holds the sender's lock.
//
// One goroutine at a time runs a pass and owns everything below; calls run beside it and bring
// their answers back. What it keeps in memory are hints for when to look at which recipient, the
// rules about the whole channel, and answers that are not on disk yet. What is to be done is read
// from the database in the transaction that also writes it.
type Dispatcher struct {
	db     *database.DB
	box    *Outbox
	sender Sender
	pacer  Pacer
	config DispatcherConfig
	log    *slog.Logger
	watch  Observer

	turn    chan struct{} // one token: whose pass it is
	wake    chan struct{}
	changed atomic.Bool // there may be something new in the database
	doubt   atomic.Pointer[string]
	outage  atomic.Pointer[time.Time]
	events  chan event

	loaded    bool
	identity  error // ErrIdentity in words, when the database belongs to another bot
	foreign   int64 // of database.ForeignCommits, as last seen
	looked    time.Time
	mark      int64 // of notifier_senders, as last seen
	lastID    int64 // of outbox, as last seen
	paused    bool
	pauses    pauses
	queues    *queues
	calls     int // messages under way
	probes    int // probes under way
	unsaved   []event
	saveAgain time.Time

	breaker   Breaker
	canary    Canary
	guard     Guard
	clock     Clock
	gate      time.Time // of the whole channel
	signs     signs
	status    SenderStatus // as last written
	silence   string       // what the last call without an answer came to; empty after an answer
	asked     methodGates
	greeting  greeting
	rescan    bool      // a write failed after what is in memory had been changed for it
	wantedFor time.Time // since when the pace alone has held back the next call
	report    Report
}

// NewDispatcher returns a dispatcher that has not looked at the database yet.
func NewDispatcher(db *database.DB, box *Outbox, s Sender, p Pacer, c DispatcherConfig) *Dispatcher {
	d := &Dispatcher{
		db: db, box: box, sender: s, pacer: p, config: c, log: c.Logger, watch: c.Observer,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), events: make(chan event, c.Concurrency+8),
		queues: newQueues(),
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

// ClockDoubt says in words why nothing expires at present, or nothing when all is well.
func (d *Dispatcher) ClockDoubt() string {
	if doubt := d.doubt.Load(); doubt != nil {
		return *doubt
	}
	return (&Clock{}).Doubt()
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
	if !d.loaded {
		if err := d.load(ctx); err != nil {
			return d.report, fmt.Errorf("begin to dispatch: %w", err)
		}
		d.loaded = true
	}
	d.looked = time.Time{}
	err := d.pass(ctx)
	d.report.Due = d.queues.ready.Len()
	d.report.Next = d.nextByItself()
	return d.report, err
}

// pass is the loop of a pass. Each round stores what came back, looks for what is new, starts
// what may start, and waits for the next thing to happen.
func (d *Dispatcher) pass(ctx context.Context) error {
	changes, stop := d.db.Watch()
	defer stop()
	for {
		now := time.Now()
		d.queues.now = now
		d.save(now)
		var next time.Time
		var err error
		if len(d.unsaved) == 0 && ctx.Err() == nil { // first what is known must be on disk
			if err = d.look(ctx, now); err == nil {
				next, err = d.start(ctx, now)
			}
			d.tellStatus(ctx, now)
		}
		if d.calls+d.probes+len(d.unsaved) == 0 && (next.IsZero() || err != nil || ctx.Err() != nil) {
			return errors.Join(err, ctx.Err())
		}
		d.await(ctx, d.earliest(next), changes)
	}
}

// look brings what is in memory up to date.
func (d *Dispatcher) look(ctx context.Context, now time.Time) error {
	if d.clock.Stepped(now) {
		d.log.Warn("the clock was set")
		d.queues.lookAgain()
	}
	if err := d.refresh(ctx, now); err != nil {
		return err
	}
	if d.identity != nil {
		return d.identity
	}
	d.greet(now)
	if err := d.expire(ctx, now); err != nil {
		return err
	}
	d.queues.promote(now)
	return nil
}

// earliest is next, or an earlier instant at which the loop has something to do by itself.
func (d *Dispatcher) earliest(next time.Time) time.Time {
	for _, t := range []time.Time{d.saveAgain, d.nextByItself(), time.Now().Add(time.Second)} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// await waits for an answer, a change in the database, an instant, or the end of ctx.
func (d *Dispatcher) await(ctx context.Context, until time.Time, changes <-chan struct{}) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil // only the answers of calls under way are still of interest
	}
	select {
	case e := <-d.events:
		d.took(e)
		for more := true; more; { // answers that came together share a commit
			select {
			case e := <-d.events:
				d.took(e)
			default:
				more = false
			}
		}
	case <-d.wake:
	case <-changes:
		d.changed.Store(true)
	case <-timer.C:
	case <-done:
	}
}

// nextByItself is the earliest instant at which something is due without anybody's doing.
func (d *Dispatcher) nextByItself() time.Time {
	var next time.Time
	consider := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if q := d.queues.later.top(); q != nil {
		consider(q.until)
	}
	if q := d.queues.expiring.top(); q != nil {
		consider(q.expires)
	}
	now := time.Now()
	if due := d.queues.ready.Len()+len(d.signs.waiting) > 0; due && !d.paused {
		if d.gate.After(now) {
			consider(d.gate)
		} else if d.breaker.Open() {
			_, at := d.breaker.Next(now)
			consider(at)
		} else if d.guard.Active() {
			consider(d.guard.Next())
		} else if len(d.signs.waiting) > 0 && !d.signs.asking {
			consider(latest(d.signs.at, d.asked.touch))
		}
	}
	if !d.greeting.done && !d.greeting.asking && d.identity == nil {
		consider(d.greeting.at)
	}
	return next
}

// Schedule says when the safety pass after an instant is due; robfig/cron's schedules are such.
type Schedule interface{ Next(time.Time) time.Time }

// Run makes passes until ctx ends: after commits of this process (Wake) and of others, when
// something becomes due, and on schedule. told hears how each pass that did not end well went.
func (d *Dispatcher) Run(ctx context.Context, safety Schedule, told func(Report, error)) {
	changes, stop := d.db.Watch()
	defer stop()
	for {
		r, err := d.Dispatch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && told != nil {
			told(r, err)
		}
		next := safety.Next(time.Now())
		if !r.Next.IsZero() && r.Next.Before(next) {
			next = r.Next
		}
		if err != nil { // do not ask in a circle, neither for the channel nor for a broken disk
			next = latest(next, time.Now().Add(patience(err)))
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-timer.C:
		case <-d.wake:
		case <-changes:
			d.changed.Store(true)
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Held says whether the error of a pass only means that something holds up the whole channel, or
// that its context ended.
func Held(err error) bool {
	for _, known := range []error{ErrPaused, ErrOutage, ErrStopped, ErrGated, ErrGuarded, ErrIdentity, context.Canceled} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// patience is the least time between a pass that failed and the next.
func patience(err error) time.Duration {
	if Held(err) {
		return 10 * time.Millisecond // the report knows when it is worth while
	}
	return time.Second
}

// nobody is the Observer of a dispatcher that has none.
type nobody struct{}

func (nobody) Attempted(Verdict, time.Duration) {}
func (nobody) Delivered(time.Duration)          {}
func (nobody) Limited(time.Duration)            {}
