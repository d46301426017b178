package outbox

import "time"

// maxSkew is how far our clock may differ from the channel's before nothing expires any more.
const maxSkew = 5 * time.Minute

// Clock judges whether the machine's clock can be trusted with what cannot be undone. Until the
// channel has told its time once, and while ours differs from it by more than five minutes,
// nothing expires.
type Clock struct {
	known bool
	skew  time.Duration // ours minus the channel's
	last  time.Time
}

// Heard notes the channel's time from an answer that arrived at now; zero says nothing.
func (c *Clock) Heard(channel, now time.Time) {
	if !channel.IsZero() {
		c.known, c.skew = true, now.Sub(channel)
	}
}

// Trusted says whether messages may expire.
func (c *Clock) Trusted() bool { return c.known && c.skew.Abs() <= maxSkew }

// Doubt says in words why nothing expires at present; it is empty when the clock is trusted.
func (c *Clock) Doubt() string {
	switch {
	case !c.known:
		return "the channel has not told its time since the start; until then nothing expires"
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

// Stepped says whether the wall clock was set since the last call, which shows as a difference
// between it and the monotonic clock that Go keeps in the same value (package time).
func (c *Clock) Stepped(now time.Time) bool {
	last := c.last
	c.last = now
	if last.IsZero() {
		return false
	}
	monotonic := now.Sub(last)
	wall := now.Round(0).Sub(last.Round(0))
	return (wall - monotonic).Abs() > 2*time.Second
}

// onClock turns a stored deadline into one of this process: it was wait long when it was stored,
// and is never longer than that from now, whatever the wall clock has done since.
func onClock(stored time.Time, wait time.Duration, now time.Time) time.Time {
	if stored.IsZero() {
		return time.Time{}
	}
	left := stored.Sub(now.Round(0))
	if wait > 0 {
		left = min(left, wait)
	}
	return now.Add(left)
}
