package outbox

import (
	"time"
)

// maxSkew is how far our clock may differ from the channel's before nothing expires any more.
const maxSkew = 5 * time.Minute

// stepAtLeast is how far the wall clock must have moved against the monotonic one to have been set.
const stepAtLeast = 2 * time.Second

// Clock is the time of a running sender: the wall clock at its start plus what the monotonic clock
// has counted since. Setting the machine's clock does not move it, so no wait becomes longer or
// shorter. It also judges whether the wall clock can be trusted with what cannot be undone: until
// the channel has told its time, after the start and after each step of the wall clock, and while
// the two differ by more than five minutes, nothing expires.
type Clock struct {
	wall   func() time.Time
	start  time.Time // with the monotonic reading
	anchor time.Time // the wall clock at start

	known  bool
	skew   time.Duration // the wall clock minus the channel's, when it last told it
	offset time.Duration // the wall clock minus ours, at the last look
}

// NewClock begins with what the machine's clock says now. wall reads the wall clock; nil: time.Now.
func NewClock(wall func() time.Time) Clock {
	if wall == nil {
		wall = time.Now
	}
	return Clock{wall: wall, start: time.Now(), anchor: wall().Round(0).UTC()}
}

// Now is our time now.
func (c *Clock) Now() time.Time { return c.At(time.Now()) }

// At is our time at a reading of time.Now.
func (c *Clock) At(reading time.Time) time.Time { return c.anchor.Add(reading.Sub(c.start)) }

// Ahead is how far the wall clock is ahead of ours. Other processes write by the wall clock, so
// what they want at once may be stamped as late as our time plus this.
func (c *Clock) Ahead() time.Duration { return max(0, c.offset) }

// Heard notes the channel's time from an answer that has just arrived; zero says nothing.
func (c *Clock) Heard(channel time.Time) {
	if !channel.IsZero() {
		c.known, c.skew = true, c.wall().Round(0).Sub(channel)
	}
}

// Stepped looks at the wall clock, and says whether it was set since the last look.
func (c *Clock) Stepped() bool {
	before := c.offset
	c.offset = c.wall().Round(0).Sub(c.Now())
	if (c.offset - before).Abs() < stepAtLeast {
		return false
	}
	c.known = false
	return true
}

// Known says whether the channel has told its time since the start and since the last step.
func (c *Clock) Known() bool { return c.known }

// Trusted says whether messages may expire.
func (c *Clock) Trusted() bool { return c.known && c.skew.Abs() <= maxSkew }

// Doubt says in words why nothing expires at present; it is empty when the clock is trusted.
func (c *Clock) Doubt() string {
	switch {
	case !c.known:
		return "the channel has not told its time since the start, or since this machine's clock was set; until then nothing expires"
	case !c.Trusted():
		return "the clock of this machine is " + c.skew.Round(time.Second).Abs().String() + " " + direction(c.skew) +
			" the channel's; until it is set right, nothing expires"
	}
	return ""
}

func direction(skew time.Duration) string {
	if skew > 0 {
		return "ahead of"
	}
	return "behind"
}

// onClock turns a stored deadline into one of this process: it was wait long when it was stored,
// and is never longer than that from now, whatever the wall clock has done since.
func onClock(stored time.Time, wait time.Duration, now time.Time) time.Time {
	if stored.IsZero() {
		return time.Time{}
	}
	if wait > 0 && stored.Sub(now) > wait {
		return now.Add(wait)
	}
	return stored
}

// The age limit: a message that the writer gave an expiresAt ends then. Any other ends TTL after
// the latest of its creation, its notBefore, its link and a person's retry, not counting the time
// that a person had paused the sender; without a link, UnlinkedTTL after its creation.

// pause is a time during which a person had paused the sender; to is zero while it lasts.
type pause struct{ from, to time.Time }

// pauses are in the order of their beginnings and do not overlap.
type pauses []pause

// ttl is how old a message with this hold may become.
func (p Policy) ttl(hold int) time.Duration {
	if hold == holdNoChat {
		return p.UnlinkedTTL
	}
	return p.TTL
}

// expiry is when m ends, as far as is known now: a pause that has not ended moves it on.
func (p Policy) expiry(m Message, ps pauses, now time.Time) time.Time {
	if !m.ExpiresAt.IsZero() {
		return m.ExpiresAt
	}
	return ps.after(m.ageFrom, p.ttl(m.hold), now)
}

// after is the instant at which ttl has passed since from, pauses not counted.
func (ps pauses) after(from time.Time, ttl time.Duration, now time.Time) time.Time {
	end := from.Add(ttl)
	for _, p := range ps {
		to := p.to
		if to.IsZero() {
			to = now
		}
		begin := latest(p.from, from)
		if begin.Before(end) && to.After(begin) {
			end = end.Add(to.Sub(begin))
		}
	}
	return end
}

// before is the inverse of after: what counts its age from this instant or an earlier one has
// reached ttl by now. It walks back over the pauses, whose time does not count.
func (ps pauses) before(ttl time.Duration, now time.Time) time.Time {
	at, left := now, ttl
	for i := len(ps) - 1; i >= 0; i-- {
		to := ps[i].to
		if to.IsZero() || to.After(at) {
			to = at
		}
		if gap := at.Sub(to); gap >= left {
			break
		} else if gap > 0 {
			left -= gap
		}
		if ps[i].from.Before(at) {
			at = ps[i].from
		}
	}
	return at.Add(-left)
}
