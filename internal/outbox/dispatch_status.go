package outbox

import (
	"context"
	"strings"
	"time"

	"notifier/internal/database"
)

// tellStatus writes what holds up the whole channel when that has changed, so that other
// processes can say it. The gate and a person's pause are stored where they are set.
func (d *Dispatcher) tellStatus(ctx context.Context, now time.Time) {
	d.noteOutage(now)
	d.storeStatus(ctx, d.machine.status(now, d.box.channel, d.status))
}

func (d *Dispatcher) storeStatus(ctx context.Context, s SenderStatus) {
	if s.State == d.status.State && s.Reason == d.status.Reason && s.Until.Equal(d.status.Until) {
		return
	}
	err := d.db.Write(ctx, func(tx database.Tx) error { return d.box.report(tx, s.State, s.Reason, s.Until) })
	if err != nil {
		d.log.Error("cannot store the sender's state", "err", err)
		return
	}
	d.status = s
}

// tellTrouble makes the error of a pass known at once: nothing is sent while it lasts.
func (d *Dispatcher) tellTrouble(ctx context.Context, cause error) {
	words := cause.Error()
	d.trouble.Store(&words)
	if d.loaded {
		d.storeStatus(ctx, SenderStatus{State: SenderWaiting, Reason: "a pass failed: " + shorten(words)})
	}
}

// Trouble says in words why the last pass failed or what could not be stored; empty when all is
// well. It may be asked from any goroutine.
func (d *Dispatcher) Trouble() string {
	if t := d.trouble.Load(); t != nil {
		return *t
	}
	return ""
}

// ClockDoubt says in words why nothing expires at present, or nothing when all is well. It may be
// asked from any goroutine.
func (d *Dispatcher) ClockDoubt() string {
	if doubt := d.doubt.Load(); doubt != nil {
		return *doubt
	}
	return (&Clock{}).Doubt()
}

// tellClock keeps ClockDoubt up to date.
func (d *Dispatcher) tellClock() {
	doubt := d.clock.Doubt()
	d.doubt.Store(&doubt)
}

// Outage is since when the channel has not been reachable, as this dispatcher has seen it; zero
// when it is. It may be asked from any goroutine.
func (d *Dispatcher) Outage() time.Time {
	if since := d.outage.Load(); since != nil {
		return *since
	}
	return time.Time{}
}

// noteOutage keeps Outage up to date.
func (d *Dispatcher) noteOutage(now time.Time) {
	switch out := d.machine.breaker.Open() && !d.machine.breaker.Stopped(); {
	case !out:
		d.outage.Store(nil)
	case d.outage.Load() == nil:
		d.outage.Store(&now)
	}
}

// title is the channel's name as people write it.
func (o *Outbox) title() string { return strings.ToUpper(o.channel[:1]) + o.channel[1:] }
