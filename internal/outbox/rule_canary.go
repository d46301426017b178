package outbox

import (
	"maps"
	"slices"
	"time"
)

// canaryPatience is how long an unanswered canary holds back the next one.
const canaryPatience = 3 * time.Second

// Canary finds out whether a "too fast" was meant for one recipient or for the whole channel,
// which the channel does not say. After one, a single call goes first. Any other answer frees the
// rest; a second "too fast" is followed by one more canary, to a private chat without a gate where
// there is one; only when that is refused too does the whole channel wait.
type Canary struct {
	stage  int           // 0: all may go; 1: one goes first; 2: one more, since that was told to wait
	first  time.Duration // what the canary of stage 1 was told
	since  time.Time     // when the last spell began: calls from before say nothing new
	flying map[int64]flight
}

type flight struct {
	stage int
	at    time.Time
}

// clone returns a copy that shares nothing with c.
func (c Canary) clone() Canary {
	c.flying = maps.Clone(c.flying)
	return c
}

// NewSpell makes one call go first, as after the channel's gate.
func (c *Canary) NewSpell(now time.Time) {
	c.stage, c.since, c.first = 1, now, 0
	c.flying = map[int64]flight{}
}

// Free says whether calls may start as they like.
func (c *Canary) Free() bool { return c.stage == 0 }

// Private says that the next canary should go to a private chat.
func (c *Canary) Private() bool { return c.stage == 2 }

// Next is the earliest instant at which a canary may start, when calls are not free.
func (c *Canary) Next(now time.Time) time.Time {
	next := now
	for _, f := range c.flying {
		if f.stage == c.stage && f.at.Add(canaryPatience).After(next) {
			next = f.at.Add(canaryPatience)
		}
	}
	return next
}

// Started notes that an attempt goes as a canary.
func (c *Canary) Started(attempt int64, now time.Time) {
	c.flying[attempt] = flight{c.stage, now}
}

// Ended is told of every attempt's answer. It returns how long the whole channel has to wait, and
// zero if it need not.
func (c *Canary) Ended(attempt int64, started time.Time, v Verdict, wait time.Duration, now time.Time) time.Duration {
	f, was := c.flying[attempt]
	delete(c.flying, attempt)
	if v == Wait {
		return c.refused(f, was, started, wait, now)
	}
	if was && v != NotSent && v != NotFromChannel && v != Uncertain { // the channel itself has answered
		c.stage, c.flying = 0, nil
	}
	return 0
}

func (c *Canary) refused(f flight, was bool, started time.Time, wait time.Duration, now time.Time) time.Duration {
	switch {
	case c.stage == 0 && started.After(c.since):
		c.NewSpell(now)
	case c.stage == 1 && was && f.stage == 1:
		c.stage, c.first = 2, wait
	case c.stage == 2 && was && f.stage == 2:
		gate := min(c.first, wait)
		c.NewSpell(now)
		return gate
	}
	return 0
}

// guardLimit is how many chats in a row, refused after they had accepted before, are taken for a
// fault of ours or Telegram's rather than for customers who left.
const guardLimit = 5

// guardEvery is how often the guard lets one message try.
const guardEvery = time.Minute

// Guard protects the shop's chats from mass death. When five chats in a row that had accepted
// messages before are refused, with nothing accepted between, it takes the five back; then one
// message a minute goes, to each waiting chat in turn, and kills none, until one is accepted.
// A chat that was taken back once is not taken back again: refused again, it is dead.
type Guard struct {
	row    []string // the chats refused in a row
	active bool
	at     time.Time // when the next message may try
}

// clone returns a copy that shares nothing with g.
func (g Guard) clone() Guard {
	g.row = slices.Clone(g.row)
	return g
}

// Restore begins with the chats in a row that are on disk, or with the guard that holds since an instant
// (zero: it does not). lastCall is when the newest call began: a restart is no reason to try again.
func (g *Guard) Restore(row []string, since, lastCall, now time.Time) {
	if since.IsZero() {
		g.row = row
		return
	}
	g.active, g.at = true, onClock(latest(since, lastCall).Add(guardEvery), guardEvery, now)
}

// Refused takes the refusal of a chat. accepted says whether it had accepted a message before,
// spared whether it was taken back once: others say nothing here. back are the chats to take back.
func (g *Guard) Refused(address string, accepted, spared bool, now time.Time) (back []string) {
	if g.active || !accepted || spared || slices.Contains(g.row, address) {
		return nil
	}
	g.row = append(g.row, address)
	if len(g.row) < guardLimit {
		return nil
	}
	back = g.row
	g.row, g.active, g.at = nil, true, now.Add(guardEvery)
	return back
}

// Accepted ends the row, and the guard. ended says that it had held until now.
func (g *Guard) Accepted() (ended bool) {
	ended = g.active
	*g = Guard{}
	return ended
}

// Release ends the guard by a person's hand.
func (g *Guard) Release() { *g = Guard{} }

// Active says whether the guard holds: then nothing kills a chat.
func (g *Guard) Active() bool { return g.active }

// Next is when the next message may try, while the guard holds.
func (g *Guard) Next() time.Time { return g.at }

// Tried notes that a message tries now.
func (g *Guard) Tried(now time.Time) { g.at = now.Add(guardEvery) }
