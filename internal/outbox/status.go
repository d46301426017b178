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
	s := d.statusNow(now)
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

func (d *Dispatcher) statusNow(now time.Time) SenderStatus {
	switch {
	case d.identity != nil:
		return SenderStatus{State: SenderStopped, Reason: d.identity.Error()}
	case d.breaker.Stopped():
		return SenderStatus{State: SenderStopped, Reason: "token rejected: " + d.breaker.Detail(), Until: d.probeAt(now)}
	case d.breaker.Open():
		return SenderStatus{State: SenderWaiting, Reason: d.box.title() + " cannot be reached: " + d.breaker.Detail(), Until: d.probeAt(now)}
	}
	if d.silence != "" {
		return SenderStatus{State: SenderWaiting, Reason: d.box.title() + " does not answer: " + d.silence}
	}
	if d.guard.Active() {
		return SenderStatus{State: SenderWaiting, Until: d.guard.Next().Truncate(time.Millisecond),
			Reason: "five chats in a row were refused that had accepted messages before; nobody is given up, and one message a minute tries. If all is well, release the sender"}
	}
	return SenderStatus{State: SenderRunning}
}

// probeAt is the next probe's time as it can be stored.
func (d *Dispatcher) probeAt(now time.Time) time.Time {
	_, at := d.breaker.Next(now)
	if at.IsZero() {
		return d.status.Until // a probe is under way: its end will tell
	}
	return at.Truncate(time.Millisecond)
}

// title is the channel's name as people write it.
func (o *Outbox) title() string { return strings.ToUpper(o.channel[:1]) + o.channel[1:] }
