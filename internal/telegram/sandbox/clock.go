package sandbox

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// clock is the time of a world: that of the machine, and as much more as it was
// put forward.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed and replaced when it is put forward
}

// now is the time in the sandbox.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// next tells when the clock is put forward the next time.
func (c *clock) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return c.moved
}

func (c *clock) forward(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// maxForward is the farthest that a clock can be put forward, in all.
const maxForward = 10 * 365 * 24 * time.Hour

// Now is the time in the sandbox.
func (s *Sandbox) Now() time.Time { return s.current().clock.now() }

// Forward puts the clock forward: waits of limits and faults end, updates and
// queries expire. It does not go backward, and only Reset brings it back. Long
// polls and webhooks go on in their own time.
func (s *Sandbox) Forward(by time.Duration) error {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	if ahead := time.Until(w.clock.now().Add(by)); by < 0 || ahead > maxForward {
		return errors.New("the clock can be put forward by ten years in all, and not back")
	}
	w.clock.forward(by)
	w.note()
	return nil
}

// sleepUntil waits for an instant of the clock. It is false when the world ended
// before. A client that has gone away does not shorten it: a server that has
// read a request goes on with it.
func (w *world) sleepUntil(at time.Time) bool {
	for {
		moved := w.clock.next()
		wait := at.Sub(w.clock.now())
		if wait <= 0 {
			return w.ctx.Err() == nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-moved:
		case <-w.ctx.Done():
		}
		timer.Stop()
		if w.ctx.Err() != nil {
			return false
		}
	}
}

// postClock puts the clock forward and tells the time.
func (s *Sandbox) postClock(rw http.ResponseWriter, r *http.Request) {
	body, ok := readControl(rw, r)
	if !ok {
		return
	}
	var form struct {
		Forward duration `json:"forward"`
	}
	err := decodeStrict(body, &form)
	if err == nil {
		err = s.Forward(time.Duration(form.Forward))
	}
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	s.showClock(rw, r)
}

func (s *Sandbox) showClock(rw http.ResponseWriter, _ *http.Request) {
	now := s.Now()
	show(rw, http.StatusOK, struct {
		Now   time.Time `json:"now"`
		Ahead duration  `json:"ahead"`
	}{now, duration(time.Until(now).Round(time.Second))})
}
