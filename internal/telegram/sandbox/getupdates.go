package sandbox

import (
	"encoding/json"
	"time"
)

// The bounds of getUpdates.
const (
	maxBatch       = 100
	maxPoll        = 50 * time.Second
	futureDistance = 10 // an offset farther beyond the queue is taken for a mistake
)

// getUpdates confirms what is before the offset and returns what comes from
// there, waiting up to timeout seconds for it.
func getUpdates(c *call) (any, *apiError) {
	w, b := c.world, c.bot
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.webhook != nil {
		return nil, conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	b.allow(c.params)
	// As at Telegram it is the earlier call that fails.
	b.endPoll("terminated by other getUpdates request; make sure that only one bot instance is running")
	from := b.offset(c.params.integer("offset", 0))
	b.confirm(from)
	limit := int(min(max(c.params.integer("limit", maxBatch), 1), maxBatch))
	timeout := min(time.Duration(max(c.params.integer("timeout", 0), 0)), maxPoll/time.Second) * time.Second
	if updates := b.pending(from, limit); len(updates) > 0 || timeout == 0 {
		return updates, nil
	}
	return c.waitForUpdates(from, limit, timeout)
}

// offset is the id from which updates are wanted. A negative offset counts from
// the end of the queue; one that is far beyond it means the whole queue.
func (b *bot) offset(offset int64) int64 {
	switch {
	case offset < 0:
		if first := int64(len(b.updates)) + offset; first >= 0 && first < int64(len(b.updates)) {
			return b.updates[first].id
		}
		return 0
	case offset > b.nextUpdate+futureDistance:
		return 0
	default:
		return offset
	}
}

// waitForUpdates waits until there is an update, the time is up, the client has
// gone, or another call ends the poll; w.mu is held except while it waits.
// Such a wait is no work, so it does not count as an open call.
func (c *call) waitForUpdates(from int64, limit int, timeout time.Duration) ([]json.RawMessage, *apiError) {
	w, b := c.world, c.bot
	ended := make(chan *apiError, 1)
	b.poll = ended
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	w.stats.OpenCalls--
	w.wake()
	defer func() {
		w.stats.OpenCalls++
		if b.poll == ended {
			b.poll = nil
		}
	}()
	for {
		arrived, over := b.arrived, false
		w.mu.Unlock()
		var err *apiError
		select {
		case <-arrived:
		case err = <-ended:
		case <-timer.C:
			over = true
		case <-c.client:
			over = true
		case <-w.ctx.Done():
			over = true
		}
		w.mu.Lock()
		if err != nil {
			return nil, err
		}
		if b.poll != ended { // it was ended while an update came
			return nil, <-ended
		}
		if updates := b.pending(from, limit); len(updates) > 0 || over {
			return updates, nil
		}
	}
}

// endPoll makes the getUpdates call that waits fail with a conflict.
func (b *bot) endPoll(why string) {
	if b.poll != nil {
		b.poll <- conflict(why)
		b.poll = nil
	}
}
