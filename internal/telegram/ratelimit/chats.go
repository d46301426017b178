package ratelimit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// sweepAt is the number of remembered chats from which on those at rest are forgotten.
const sweepAt = 1024

// chats keeps the limits of single chats. It remembers only those with a call in the last moments:
// a chat that is full again and whose minute is empty is as good as an unknown one.
type chats struct {
	spacing rate.Limit
	minute  share
	known   map[string]*chat
	sweep   int // the number of known chats at which the next sweep is due
}

// chat is one chat that was called of late.
type chat struct {
	bucket  *rate.Limiter // one call, refilled in the interval of a chat
	emptied time.Time
	minute  window // of groups only
}

func newChats(perSecond, groupPerMinute float64) *chats {
	return &chats{
		spacing: rate.Limit(perSecond),
		minute:  quota(groupPerMinute, time.Minute),
		known:   make(map[string]*chat),
		sweep:   sweepAt,
	}
}

func (c *chats) next(address string, now time.Time, floor time.Duration) time.Time {
	chat, known := c.known[address]
	if !known {
		return now
	}
	at := chat.full(now)
	if isGroup(address) {
		at = latest(at, chat.minute.next(c.minute, now, floor))
	}
	return at
}

// full is the earliest instant, from now on, at which the bucket holds a call.
func (c *chat) full(now time.Time) time.Time {
	missing := 1 - c.bucket.TokensAt(now)
	if missing < 1e-14 { // less than a float can be trusted with
		return now
	}
	wait := math.Ceil(missing / float64(c.bucket.Limit()) * float64(time.Second))
	return now.Add(time.Duration(wait))
}

func (c *chats) started(address string, at time.Time) {
	chat := c.remember(address, at)
	chat.drain(at)
	if isGroup(address) {
		chat.minute.started(address, at, c.minute)
	}
}

func (c *chats) ended(address string, started, ended time.Time, answered bool) {
	chat := c.remember(address, ended)
	chat.drain(ended)
	if isGroup(address) {
		chat.minute.ended(address, started, ended, answered)
	}
}

func (c *chats) remember(address string, now time.Time) *chat {
	if known, ok := c.known[address]; ok {
		return known
	}
	if len(c.known) >= c.sweep {
		c.forget(now)
	}
	fresh := &chat{bucket: rate.NewLimiter(c.spacing, 1)}
	c.known[address] = fresh
	return fresh
}

// drain empties the bucket at an instant, whatever is in it: the interval to the next call counts
// from there. A bucket without room loses its tokens, and the limiter does so at the next change.
func (c *chat) drain(at time.Time) {
	if at.Before(c.emptied) {
		return
	}
	c.emptied = at
	c.bucket.SetBurstAt(at, 0)
	c.bucket.SetBurstAt(at, 1)
}

// forget drops the chats at rest. The next sweep is due at twice what is left, so that each call
// pays for a constant share of it; the map is made anew, as one that grew never shrinks.
func (c *chats) forget(now time.Time) {
	left := make(map[string]*chat)
	for address, chat := range c.known {
		if chat.full(now).After(now) || !chat.minute.empty(now, c.minute.per) {
			left[address] = chat
		}
	}
	c.known = left
	c.sweep = max(sweepAt, 2*len(left))
}
