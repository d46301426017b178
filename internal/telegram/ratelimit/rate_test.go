package ratelimit

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// bulk sends as a dispatcher does: one call at a time for each chat, and of the chats whose turn
// has come the one that has waited longest, then the one whose message stands first in the queue.
// It stands beside a server that notes when it saw each message.
type bulk struct {
	limiter  *Limiter
	out      time.Duration // the way there
	back     time.Duration // and back
	chats    []*bulkChat
	arrivals []time.Duration
	begin    time.Time
	arrived  chan *bulkChat
	answered chan *bulkChat
}

type bulkChat struct {
	address  string
	queue    []int // the places of its messages in the whole queue
	busy     bool
	started  time.Time
	ended    time.Time
	arrivals []time.Duration
}

func (b *bulk) run() time.Duration {
	b.begin = time.Now()
	b.arrived, b.answered = make(chan *bulkChat), make(chan *bulkChat)
	for {
		chat, at := b.soonest()
		if chat == nil && !b.anyBusy() {
			return time.Since(b.begin)
		}
		if chat != nil && !at.After(time.Now()) {
			b.send(chat)
			continue
		}
		b.wait(chat, at)
	}
}

func (b *bulk) send(c *bulkChat) {
	c.busy, c.started = true, time.Now()
	c.queue = c.queue[1:]
	b.limiter.Started(c.address, c.started)
	go func() {
		time.Sleep(b.out)
		b.arrived <- c
		time.Sleep(b.back)
		b.answered <- c
	}()
}

func (b *bulk) wait(next *bulkChat, at time.Time) {
	wake := make(<-chan time.Time)
	if next != nil {
		wake = time.After(time.Until(at))
	}
	select {
	case <-wake:
	case c := <-b.arrived:
		b.arrivals = append(b.arrivals, time.Since(b.begin))
		c.arrivals = append(c.arrivals, time.Since(b.begin))
	case c := <-b.answered:
		c.busy, c.ended = false, time.Now()
		b.limiter.Ended(c.address, c.started, c.ended, true)
	}
}

// soonest is the chat to which a call may start first.
func (b *bulk) soonest() (best *bulkChat, at time.Time) {
	now := time.Now()
	for _, c := range b.chats {
		if c.busy || len(c.queue) == 0 {
			continue
		}
		next := b.limiter.Next(c.address, now)
		if best == nil || next.Before(at) || next.Equal(at) && c.before(best) {
			best, at = c, next
		}
	}
	return best, at
}

func (c *bulkChat) before(other *bulkChat) bool {
	if !c.ended.Equal(other.ended) {
		return c.ended.Before(other.ended)
	}
	return c.queue[0] < other.queue[0]
}

func (b *bulk) anyBusy() bool {
	for _, c := range b.chats {
		if c.busy {
			return true
		}
	}
	return false
}

const bulkChats, bulkEach, bulkRate = 300, 3, 28.0

func roundRobin(chat, message int) int { return message*bulkChats + chat }
func chatByChat(chat, message int) int { return chat*bulkEach + message }

func TestBulkTakesAboutTheShortestTime(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name      string
		out, back time.Duration
		place     func(chat, message int) int
	}{
		{"round robin, 60 ms", 30 * ms, 30 * ms, roundRobin},
		{"chat by chat, 60 ms", 30 * ms, 30 * ms, chatByChat},
		{"60 ms on the way there", 60 * ms, 0, roundRobin},
		{"60 ms on the way back", 0, 60 * ms, roundRobin},
		{"300 ms", 150 * ms, 150 * ms, roundRobin},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bulk{limiter: newLimiter(t, Rates{bulkRate, 1, 18}), out: c.out, back: c.back}
				for i := range bulkChats {
					chat := &bulkChat{address: fmt.Sprint(i)}
					for j := range bulkEach {
						chat.queue = append(chat.queue, c.place(i, j))
					}
					b.chats = append(b.chats, chat)
				}
				b.check(t, b.run())
			})
		})
	}
}

func (b *bulk) check(t *testing.T, took time.Duration) {
	t.Helper()
	longest := time.Duration(1.05 * bulkChats * bulkEach / bulkRate * float64(time.Second))
	t.Logf("%d messages took %v of %v, up to %d in a second", len(b.arrivals), took, longest, most(b.arrivals, time.Second))
	if took > longest {
		t.Errorf("took %v, want at most %v", took, longest)
	}
	if got := most(b.arrivals, time.Second); got > bulkRate {
		t.Errorf("%d messages in a second", got)
	}
	for _, c := range b.chats {
		if got := most(c.arrivals, time.Second); got > 1 || len(c.arrivals) != bulkEach {
			t.Fatalf("chat %s: %d in a second, %d in all", c.address, got, len(c.arrivals))
		}
	}
}
