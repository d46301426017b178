package database

import "time"

// A program that waits for SQLite's write lock does not queue: it looks every now and then, at the
// latest every 100 ms (the delays of sqliteDefaultBusyCallback in SQLite's main.c), and can miss
// the microseconds between two of our commits for as long as we keep writing. So when we held the
// lock for most of the last two seconds, we leave it alone for longer than that: whoever waits for
// it then surely gets it, long before a timeout of 5 s.
const (
	fairnessEvery = 2 * time.Second
	fairnessShare = 0.7
	fairnessPause = 110 * time.Millisecond
)

// fairness keeps account of how long we hold the write lock. The connection's turn guards it.
type fairness struct {
	since  time.Time // when this account began
	locked time.Duration
	due    bool
}

// held adds one transaction to the account, and closes it when it is old enough.
func (f *fairness) held(from, to time.Time) {
	if f.since.IsZero() {
		f.since = from
	}
	f.locked += to.Sub(from)
	if age := to.Sub(f.since); age >= fairnessEvery {
		f.due = float64(f.locked) > fairnessShare*float64(age)
		f.since, f.locked = to, 0
	}
}

// pause leaves the lock alone for a while when that is due.
func (f *fairness) pause() {
	if f.due {
		f.due = false
		time.Sleep(fairnessPause)
	}
}
