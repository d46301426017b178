package sandbox

import (
	"fmt"
	"slices"
	"time"
)

// caller is who makes a call, as far as a server can tell.
type caller struct {
	call       uint64
	connection string // its client's end; empty means unknown
	received   time.Time
	told       *told // what becomes of its answer
}

// told tells when an answer went out. It is the zero time until then.
type told struct{ at time.Time }

// grace is how long an answer may be on its way to a client, and a call from
// there, where nothing else tells which came first.
const grace = 100 * time.Millisecond

// note is a wait that was announced in an answer.
type note struct {
	by    caller
	from  time.Time
	until time.Time
}

// follows tells whether a call came on the connection of an announcement after
// it, so that its client has read it.
func (c caller) follows(n note) bool {
	return c.connection != "" && c.connection == n.by.connection && !n.by.told.at.IsZero() && !c.received.Before(n.by.told.at)
}

// knew tells whether a call was begun after its client had received an
// announcement.
func (c caller) knew(n note) bool {
	return c.follows(n) || !n.by.told.at.IsZero() && !c.received.Before(n.by.told.at.Add(grace))
}

// maxNotes is how many announcements a scope of a chat remembers. More can be
// in force at once only if many calls are refused at the same time.
const maxNotes = 16

// notes are the announcements for one scope of a chat.
type notes struct {
	list    []note
	penalty time.Time // with StrictPenalty: nothing is granted before
}

// add notes an announcement and forgets those that have passed.
func (s *notes) add(by caller, now, until time.Time) {
	s.list = slices.DeleteFunc(s.list, func(n note) bool { return !now.Before(n.until) })
	s.list = append(s.list[max(0, len(s.list)-maxNotes+1):], note{by, now, until})
}

// ignoredBy finds the longest announced wait that a call ignores which counts at
// now.
func (s *notes) ignoredBy(c caller, now time.Time) (longest note, ignored bool) {
	for _, n := range s.list {
		if now.Before(n.until) && c.knew(n) && !n.until.Before(longest.until) {
			longest, ignored = n, true
		}
	}
	return longest, ignored
}

// maxPenalty is where lengthening stops.
const maxPenalty = time.Hour

// lengthen doubles what is left of a wait.
func (s *notes) lengthen(n note, now time.Time) {
	s.penalty = now.Add(min(2*n.until.Sub(now), maxPenalty))
	n.until = s.penalty
	s.list = append(s.list, n)
}

func (s *notes) afterPenalty(earliest func(time.Time) time.Time) func(time.Time) time.Time {
	return func(t time.Time) time.Time { return earliest(later(t, s.penalty)) }
}

// idle tells whether nothing is left to remember.
func (s *notes) idle(now time.Time) bool {
	return !now.Before(s.penalty) && !slices.ContainsFunc(s.list, func(n note) bool { return now.Before(n.until) })
}

// violation is an announced wait that a call ignored.
type violation struct {
	scope          string
	note           note
	early          time.Duration
	sameConnection bool
}

// String says why the call counts as a violation.
func (v violation) String() string {
	how := fmt.Sprintf("more than %v after that answer", grace)
	if v.sameConnection {
		how = "after that answer on the same connection"
	}
	return fmt.Sprintf("call %d was told to wait %v for the %s; this one came %v too early, %s",
		v.note.by.call, v.note.until.Sub(v.note.from).Round(time.Millisecond), v.scope, v.early.Round(time.Millisecond), how)
}
