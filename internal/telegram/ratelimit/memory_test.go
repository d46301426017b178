package ratelimit

import (
	"fmt"
	"testing"
	"time"
)

func TestChatsAtRestAreForgotten(t *testing.T) {
	p := newLimiter(t, Rates{10_000, 1, 18})
	most := 0
	for i := range 100_000 {
		address := fmt.Sprint(i)
		if i%10 == 0 {
			address = "-" + address
		}
		call(p, address, time.Duration(i)*50*time.Millisecond, 10*time.Millisecond)
		most = max(most, len(p.chats.known))
	}
	if most > 2*sweepAt || len(p.window.slots) > 100 {
		t.Errorf("up to %d chats and %d calls are remembered", most, len(p.window.slots))
	}
}

func TestForgottenChatsWereAtRest(t *testing.T) {
	c := newChats(1, 18)
	for i := range 3 * sweepAt {
		c.started(fmt.Sprint(i), epoch)
	}
	if len(c.known) != 3*sweepAt {
		t.Errorf("%d of %d busy chats are left", len(c.known), 3*sweepAt)
	}
	c.started("-1", after(time.Minute))
	c.ended("-1", after(time.Minute), after(time.Minute), true)
	c.forget(after(90 * time.Second))
	if len(c.known) != 1 {
		t.Errorf("%d chats are left, want the group alone", len(c.known))
	}
}
