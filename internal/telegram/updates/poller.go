package updates

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"time"

	"notifier/internal/telegram"
)

const (
	// pollFor is how long Telegram holds a poll open. It may be 50 s; boxes on the way like to drop
	// a connection that is silent for a minute.
	pollFor = 30 * time.Second
	// Waits after failures double from the first to the last.
	firstPause, lastPause = time.Second, 30 * time.Second
	// Another poller, or a webhook that was set: trying sooner would only disturb it.
	firstConflict, lastConflict = 5 * time.Second, time.Minute
	// Probes with a token that was refused, as the sender's.
	lastProbe = time.Minute
)

// PollerOptions are what a Poller needs.
type PollerOptions struct {
	Client *telegram.Client
	Inbox  *Inbox
	// Hold says why nothing may be asked at present, such as a database that belongs to another
	// bot; nil, or a nil error: nothing stands in the way.
	Hold func(ctx context.Context) error
	Log  *slog.Logger // nil: none
}

// Poller fetches updates. Only one process may poll for a bot at a time: whoever holds the sender's
// lock. Run or Once may be called by one goroutine at a time, Status by any.
type Poller struct {
	PollerOptions
	health health

	offset   int64 // 0: nothing to confirm
	cleared  bool  // no webhook is in the way, or it came after we had begun
	clearAt  time.Time
	failures int // in a row, of any kind
	repeats  int // polls in a row that brought only repetitions
}

// NewPoller returns a poller that has asked nobody yet.
func NewPoller(o PollerOptions) *Poller {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Hold == nil {
		o.Hold = func(context.Context) error { return nil }
	}
	return &Poller{PollerOptions: o}
}

// Status says whether updates come in.
func (p *Poller) Status(now time.Time) Status { return p.health.status(now) }

// Run polls until ctx ends. What was received and is not confirmed then comes again and is known.
func (p *Poller) Run(ctx context.Context) {
	p.health.begin(time.Now())
	for ctx.Err() == nil {
		_, pause := p.poll(ctx, pollFor)
		if pause > 0 {
			sleep(ctx, pause)
		}
	}
}

// Once takes the updates that wait, and confirms them. It returns how many it received.
func (p *Poller) Once(ctx context.Context) (received int, err error) {
	for ctx.Err() == nil {
		confirming := p.offset != 0
		n, pause := p.poll(ctx, 0)
		received += n
		if pause > 0 {
			return received, errors.New("updates were not received: " + p.Status(time.Now()).Detail)
		}
		if n == 0 && !confirming {
			return received, nil
		}
	}
	return received, ctx.Err()
}

// poll asks once and stores what comes. It returns how many updates came, and how long to wait
// before the next time.
func (p *Poller) poll(ctx context.Context, wait time.Duration) (received int, pause time.Duration) {
	if err := p.Hold(ctx); err != nil {
		return 0, p.fail(ctx, err.Error(), false, firstPause, lastPause)
	}
	if r := p.prepare(ctx); r != nil {
		return 0, p.refused(ctx, *r)
	}
	asked := time.Now()
	reply := p.Client.GetUpdates(ctx, p.offset, telegram.MaxUpdates, wait)
	list, ok := batchOf(reply)
	switch {
	case !ok:
		return 0, p.refused(ctx, reply)
	case len(list) > 0:
		return len(list), p.take(ctx, list)
	}
	// What the offset confirmed is confirmed. From now on whatever is there is asked for: new ids may
	// be lower than the old ones.
	p.offset, p.repeats = 0, 0
	p.succeed()
	if time.Since(asked) < wait/2 { // somebody on the way does not hold the poll open
		return 0, firstPause
	}
	return 0, 0
}

// prepare learns the bot's name, which a command may hold, and removes a webhook that was set before
// we began, or getUpdates would be refused. One that is set later is somebody's will: see refused.
// It returns what says that Telegram is not there.
func (p *Poller) prepare(ctx context.Context) *telegram.Reply {
	if p.Client.Username() == "" {
		if a := p.Client.Identify(ctx); !a.Answered {
			return &telegram.Reply{CallResult: a}
		}
	}
	if p.cleared || p.clearAt.After(time.Now()) {
		return nil
	}
	tellOfWebhook(ctx, p.Client, p.Log, "")
	reply := p.Client.DeleteWebhook(ctx)
	p.cleared = reply.OK
	p.clearAt = time.Now().Add(max(reply.Waits(), firstPause))
	if !reply.Answered || reply.Stopped() {
		return &reply
	}
	return nil
}

// take stores the updates of one answer in their order, up to the first that cannot be stored, and
// says how long to wait before the next poll, which confirms them.
func (p *Poller) take(ctx context.Context, list []json.RawMessage) time.Duration {
	known, moved := 0, false
	for _, raw := range list {
		fresh, err := p.Inbox.receive(ctx, raw)
		if errors.Is(err, errNoID) {
			p.Log.Error("an update has no id and is passed over")
			continue
		}
		if err != nil {
			return p.fail(ctx, "updates cannot be stored", false, firstPause, lastPause)
		}
		if !fresh {
			known++
		}
		if id, ok := updateID(raw); ok && id < math.MaxInt64 {
			p.offset, moved = id+1, true
		}
	}
	if !moved { // nothing can be confirmed, so the same would come again at once
		return p.fail(ctx, "updates without an id", false, firstPause, lastPause)
	}
	p.succeed()
	if known < len(list) {
		p.repeats = 0
		return 0
	}
	// The same again although it was confirmed, or after a restart; not in a circle, if somebody
	// between us and Telegram repeats himself.
	p.repeats++
	if p.repeats == 1 {
		return 0
	}
	return ladder(p.repeats-2, firstPause, lastPause)
}

// refused takes an answer that brings no updates, and says how long to wait.
func (p *Poller) refused(ctx context.Context, r telegram.Reply) time.Duration {
	if wait := r.Waits(); wait > 0 {
		p.fail(ctx, r.Detail, false, firstPause, lastPause)
		return wait
	}
	switch {
	case r.Stopped():
		return p.fail(ctx, "token rejected: "+r.Detail, true, firstPause, lastProbe)
	case r.Code == 409: // Conflict, in telegram-bot-api/Client.cpp of github.com/tdlib/telegram-bot-api
		return p.fail(ctx, "another program receives this bot's updates: "+r.Detail, false, firstConflict, lastConflict)
	case r.OK:
		return p.fail(ctx, "the answer cannot be read", false, firstPause, lastPause)
	}
	return p.fail(ctx, r.Detail, false, firstPause, lastPause)
}

func (p *Poller) succeed() {
	if p.failures > 0 {
		p.Log.Info("updates are received again")
	}
	p.failures = 0
	p.health.succeeded(time.Now())
}

// fail notes a failure and gives the pause after it.
func (p *Poller) fail(ctx context.Context, detail string, refused bool, first, last time.Duration) time.Duration {
	if ctx.Err() != nil {
		return first // it is our own end that looks like a failure
	}
	if p.failures == 0 {
		p.Log.Warn("updates are not received", "detail", detail)
	}
	p.health.failed(detail, refused)
	p.failures++
	return ladder(p.failures-1, first, last)
}

// ladder doubles from first to last.
func ladder(step int, first, last time.Duration) time.Duration {
	pause := first
	for range step {
		if pause >= last {
			break
		}
		pause *= 2
	}
	return min(pause, last)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
