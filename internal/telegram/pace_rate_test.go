package telegram

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// bulk sends as a dispatcher does: one call at a time for each chat, in the chat's order, and of
// the chats whose turn has come the one that has waited longest. It stands beside a server that
// notes when it saw each message.
type bulk struct {
	pace     *Pace
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
	left     int
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
	c.left--
	b.pace.Started(c.address, c.started)
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
		b.pace.Ended(c.address, c.started, c.ended, true)
	}
}

// soonest is the chat to which a call may start first.
func (b *bulk) soonest() (best *bulkChat, at time.Time) {
	now := time.Now()
	for _, c := range b.chats {
		if c.busy || c.left == 0 {
			continue
		}
		next := b.pace.Next(c.address, now)
		if best == nil || next.Before(at) || next.Equal(at) && c.ended.Before(best.ended) {
			best, at = c, next
		}
	}
	return best, at
}

func (b *bulk) anyBusy() bool {
	for _, c := range b.chats {
		if c.busy {
			return true
		}
	}
	return false
}

func TestBulkTakesAboutTheShortestTime(t *testing.T) {
	const chats, each, rate = 300, 3, 28.0
	longest := time.Duration(1.05 * chats * each / rate * float64(time.Second))
	for _, way := range []struct{ out, back time.Duration }{
		{30 * time.Millisecond, 30 * time.Millisecond},
		{0, 60 * time.Millisecond},
		{60 * time.Millisecond, 0},
		{150 * time.Millisecond, 150 * time.Millisecond},
	} {
		t.Run(fmt.Sprint(way.out, " there, ", way.back, " back"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bulk{pace: newPace(t, Rates{rate, 1, 18}), out: way.out, back: way.back}
				for i := range chats {
					b.chats = append(b.chats, &bulkChat{address: fmt.Sprint(i), left: each})
				}
				took := b.run()
				t.Logf("%d messages took %v of %v, up to %d in a second", len(b.arrivals), took, longest, most(b.arrivals, time.Second))
				if took > longest {
					t.Errorf("took %v, want at most %v", took, longest)
				}
				if got := most(b.arrivals, time.Second); got > rate {
					t.Errorf("%d messages in a second", got)
				}
				for _, c := range b.chats {
					if got := most(c.arrivals, time.Second); got > 1 || len(c.arrivals) != each {
						t.Fatalf("chat %s: %d in a second, %d in all", c.address, got, len(c.arrivals))
					}
				}
			})
		})
	}
}
