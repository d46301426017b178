package database

import "time"

// A program that waits for SQLite's write lock does not queue: it looks every now and then, at the
// latest every 100 ms (the delays of sqliteDefaultBusyCallback in SQLite's main.c), and can miss
// the microseconds between two of our commits for as long as we keep writing. So when we held the
// lock for most of the last two seconds, we leave it alone for longer than that: whoever waits for
// it then surely gets it, long before a timeout of 5 s.
const (
	breathEvery = 2 * time.Second
	breathShare = 0.7
	breathPause = 110 * time.Millisecond
)

// breather keeps account of how long we hold the write lock. The connection's turn guards it.
type breather struct {
	since  time.Time // when this account began
	locked time.Duration
	due    bool
}

// held adds one transaction to the account, and closes it when it is old enough.
func (b *breather) held(from, to time.Time) {
	if b.since.IsZero() {
		b.since = from
	}
	b.locked += to.Sub(from)
	if age := to.Sub(b.since); age >= breathEvery {
		b.due = float64(b.locked) > breathShare*float64(age)
		b.since, b.locked = to, 0
	}
}

// pause leaves the lock alone for a while when that is due.
func (b *breather) pause() {
	if b.due {
		b.due = false
		time.Sleep(breathPause)
	}
}
