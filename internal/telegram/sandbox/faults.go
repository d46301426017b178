package sandbox

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Fault makes some calls go wrong. A zero field sets no condition.
type Fault struct {
	// Method is a Bot API method in any case; empty matches all.
	Method string

	// ChatID is the chat_id of the call; zero matches all, calls without one
	// included.
	ChatID int64

	// Times is how many calls it strikes; zero means no end.
	Times int

	// Probability is the chance to strike a call that matches, from above 0 to
	// 1; zero counts as 1. A call it spares is left to the next fault.
	Probability float64

	// Seed makes the dice of Probability repeatable: with the same seed the same
	// calls of those that match are struck. Zero means the dice of the sandbox.
	Seed uint64

	// Duration is how long it lasts from now on; zero means no end.
	Duration time.Duration

	// Respond is what happens to the call.
	Respond Respond
}

// Drop says when a connection is lost.
type Drop string

// The two ways of losing a connection.
const (
	DropBefore Drop = "before" // the call is read, nothing is done
	DropAfter  Drop = "after"  // the call is done as usual, then its answer is lost
)

// Respond is what happens to a call that a fault strikes: the connection is
// lost (Drop), the call hangs (Hang), or it is answered by the other fields.
// With nothing but Delay the call goes its usual way after it.
type Respond struct {
	// Status is the HTTP status, from 200 to 599. Zero means 200 with a Body,
	// 429 with RetryAfter, 400 with MigrateToChatID.
	Status int

	// Description is the text of a Bot API error; empty means the usual one of
	// the status.
	Description string

	// RetryAfter, in seconds, goes into parameters and the Retry-After header.
	RetryAfter *float64

	// MigrateToChatID goes into parameters.
	MigrateToChatID int64

	// Body is sent as it is, in place of a Bot API answer.
	Body *string

	// ContentType of Body; empty means what it looks like.
	ContentType string

	// Delay is slept first.
	Delay time.Duration

	Drop Drop

	// Hang keeps the call without an answer until the client leaves or the
	// sandbox ends.
	Hang bool
}

// ActiveFault is a fault in force.
type ActiveFault struct {
	FaultID int
	Fault
	Struck  int       // calls it has struck
	AddedAt time.Time // Duration counts from here

	dice *rand.Rand // nil without a seed
}

// AddFault puts a fault in force and returns its id. The oldest fault that
// matches a call wins. It fails on a fault that makes no sense.
func (s *Sandbox) AddFault(f Fault) (int, error) {
	added, err := s.addFault(f)
	return added.FaultID, err
}

func (s *Sandbox) addFault(f Fault) (ActiveFault, error) {
	if err := f.validate(); err != nil {
		return ActiveFault{}, err
	}
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faultIDs++
	added := &ActiveFault{FaultID: w.faultIDs, Fault: f, AddedAt: w.clock.now(), dice: w.dice}
	if f.Seed != 0 {
		added.dice = rand.New(rand.NewPCG(f.Seed, 0))
	}
	w.faults = append(w.faults, added)
	w.note()
	return *added, nil
}

// Faults returns the faults in force, oldest first. Those that are used up are
// gone.
func (s *Sandbox) Faults() []ActiveFault {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.activeFaults()
}

// activeFaults copies the faults in force; w.mu is held.
func (w *world) activeFaults() []ActiveFault {
	w.dropSpentFaults(w.clock.now())
	list := make([]ActiveFault, 0, len(w.faults))
	for _, f := range w.faults {
		list = append(list, *f)
	}
	return list
}

// RemoveFault ends one fault. It is false when that is not in force.
func (s *Sandbox) RemoveFault(faultID int) bool {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropSpentFaults(w.clock.now())
	i := slices.IndexFunc(w.faults, func(f *ActiveFault) bool { return f.FaultID == faultID })
	if i < 0 {
		return false
	}
	w.faults = slices.Delete(w.faults, i, i+1)
	w.note()
	return true
}

// ClearFaults ends all faults. Calls that already hang go on hanging.
func (s *Sandbox) ClearFaults() {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
	w.note()
}

func (w *world) dropSpentFaults(now time.Time) {
	w.faults = slices.DeleteFunc(w.faults, func(f *ActiveFault) bool {
		return f.Times > 0 && f.Struck >= f.Times || f.Duration > 0 && now.Sub(f.AddedAt) >= f.Duration
	})
}

func (f Fault) validate() error {
	switch {
	case f.Method != "" && !knownMethod(f.Method):
		return unknownMethodError(f.Method)
	case f.Times < 0:
		return errors.New("times must be at least 1")
	case !(f.Probability >= 0 && f.Probability <= 1):
		return errors.New("probability must be from 0 to 1")
	case f.Duration < 0:
		return errors.New("duration must be positive")
	}
	return f.Respond.validate()
}

// unknownMethodError refuses a fault that would never strike, and guesses what
// was meant.
func unknownMethodError(name string) error {
	best, distance := "", len(name)/2
	for lower, p := range publishedIndex() {
		if d := editDistance(strings.ToLower(name), lower); d < distance || d == distance && p.name < best {
			best, distance = p.name, d
		}
	}
	if best == "" {
		return fmt.Errorf("the Bot API has no method %q", name)
	}
	return fmt.Errorf("the Bot API has no method %q; %s is one", name, best)
}

// editDistance is how many letters have to be changed, added or left out to make
// one word the other.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (r Respond) validate() error {
	answers := r.answers() || r.Description != "" || r.ContentType != ""
	switch {
	case r.Drop != "" && r.Drop != DropBefore && r.Drop != DropAfter:
		return fmt.Errorf("respond.drop must be %q or %q", DropBefore, DropAfter)
	case r.Drop != "" && (r.Hang || answers), r.Hang && (answers || r.Delay != 0):
		return errors.New("respond must be one of drop, hang or an answer")
	case r.Delay < 0:
		return errors.New("respond.delay must be positive")
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return errors.New("respond.status must be from 200 to 599")
	case r.RetryAfter != nil && (math.IsNaN(*r.RetryAfter) || math.IsInf(*r.RetryAfter, 0)):
		return errors.New("respond.retryAfter must be a number")
	case answers && !r.answers():
		return errors.New("respond.status is missing")
	case r.ContentType != "" && r.Body == nil:
		return errors.New("respond.contentType needs respond.body")
	case r == Respond{}:
		return errors.New("respond must say what happens: status, body, drop, hang or delay")
	}
	return nil
}

// answers tells whether the fault has an answer of its own.
func (r Respond) answers() bool {
	return r.Status != 0 || r.Body != nil || r.RetryAfter != nil || r.MigrateToChatID != 0
}

// strike finds the fault that this call suffers, if any, and notes it.
func (c *call) strike() *Fault {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropSpentFaults(w.clock.now())
	for _, f := range w.faults {
		if f.matches(c) && f.throws() {
			f.Struck++
			c.record.FaultID = f.FaultID
			struck := f.Fault
			return &struck
		}
	}
	return nil
}

func (f *ActiveFault) matches(c *call) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, c.method.name)) &&
		(f.ChatID == 0 || f.ChatID == c.record.ChatID)
}

// throws lets the dice decide; world.mu is held.
func (f *ActiveFault) throws() bool {
	return f.Probability == 0 || f.Probability == 1 || f.dice.Float64() < f.Probability
}
