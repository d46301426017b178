package outbox

import (
	"fmt"
	"time"

	"notifier/internal/database"
)

// Identity is who has sent for this database; empty when nobody has.
func (o *Outbox) Identity(tx database.Tx) (string, error) {
	s, err := o.sender(tx)
	return s.identity, err
}

// CheckIdentity says in an error that wraps ErrIdentity that another identity has sent for this
// database: then nothing may be asked of the channel.
func (o *Outbox) CheckIdentity(tx database.Tx, identity string) error {
	known, err := o.Identity(tx)
	if err != nil || known == "" || known == identity {
		return err
	}
	return otherIdentity(known, identity)
}

func otherIdentity(known, identity string) error {
	return fmt.Errorf("%w: it has sent as bot %s, and the token is of bot %s; "+
		"give it the right token, or start once with --accept-new-bot", ErrIdentity, known, identity)
}

// Guarded says whether the guard against mass death holds.
func (o *Outbox) Guarded(tx database.Tx) (bool, error) {
	s, err := o.sender(tx)
	return !s.guard.IsZero(), err
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
	switch out := d.breaker.Open() && !d.breaker.Stopped(); {
	case !out:
		d.outage.Store(nil)
	case d.outage.Load() == nil:
		d.outage.Store(&now)
	}
}
