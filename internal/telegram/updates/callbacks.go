package updates

import (
	"context"
	"sync"
	"time"

	"notifier/internal/telegram"
)

// maxCallbacks is how many buttons are answered at a time. More than that are left unanswered:
// nothing hangs on it but a small animation, which ends by itself.
const maxCallbacks = 4

// callbacks answers buttons that were pressed, beside everything else and once each. A button
// whose time is over is refused (400 "query is too old"), which changes nothing.
type callbacks struct {
	client *telegram.Client
	free   chan struct{}
	under  sync.WaitGroup

	mu    sync.Mutex
	until time.Time // not before: the method was told to wait
}

func newCallbacks(c *telegram.Client) *callbacks {
	return &callbacks{client: c, free: make(chan struct{}, maxCallbacks)}
}

// answer answers the button with this id, if there is one and it may.
func (c *callbacks) answer(id string) {
	if id == "" || c.gated(time.Now()) {
		return
	}
	select {
	case c.free <- struct{}{}:
	default:
		return
	}
	c.under.Go(func() {
		defer func() { <-c.free }()
		reply := c.client.AnswerCallback(context.Background(), id)
		if wait := reply.Waits(); wait > 0 {
			c.gate(time.Now().Add(wait))
		}
	})
}

func (c *callbacks) gated(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until.After(now)
}

func (c *callbacks) gate(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
}

func (c *callbacks) wait() { c.under.Wait() }
