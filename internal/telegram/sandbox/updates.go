package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The kinds of updates the sandbox makes.
const (
	updateMessage      = "message"
	updateCallback     = "callback_query"
	updateMyChatMember = "my_chat_member"
	updatePreCheckout  = "pre_checkout_query"
	updateInline       = "inline_query"
)

// The bounds of a bot's queue: updates not fetched for so long are forgotten,
// and a full queue takes no new ones.
const (
	updateLifetime = 24 * time.Hour
	maxUpdates     = 100_000
)

// update waits until its bot has confirmed it.
type update struct {
	id   int64
	body json.RawMessage // the Bot API's Update
	at   time.Time
}

// publish puts an update into the queue of every bot; w.mu is held. What it
// says may depend on the bot.
func (w *world) publish(kind string, content func(*bot) any) {
	at := w.clock.now()
	deliver := func(b *bot) { w.enqueue(b, kind, content(b), at) }
	if len(w.bots) == 0 {
		if w.unclaimed = append(w.unclaimed, deliver); len(w.unclaimed) > maxUnclaimed {
			w.unclaimed = slices.Delete(w.unclaimed, 0, 1)
			w.forgotten.Updates++
		}
		return
	}
	for _, b := range w.bots {
		deliver(b)
	}
}

// enqueue puts an update into the bot's queue, if it wants that kind; w.mu is
// held.
func (w *world) enqueue(b *bot, kind string, content any, at time.Time) {
	if !b.allows(kind) || len(b.updates) >= maxUpdates {
		return
	}
	// Some clients take the second key for the kind, so the id has to be first.
	body := fmt.Appendf(nil, `{"update_id":%d,%q:%s}`, b.nextUpdate, kind, encode(content))
	b.updates = append(b.updates, update{b.nextUpdate, body, at})
	w.updateBytes += updateSize(body)
	b.nextUpdate++
	close(b.arrived)
	b.arrived = make(chan struct{})
	w.trimUpdates()
}

// updateSize is about how many bytes an update takes while it waits.
func updateSize(body json.RawMessage) int { return len(body) + 100 }

func (b *bot) queuedBytes(updates []update) int {
	n := 0
	for _, u := range updates {
		n += updateSize(u.body)
	}
	return n
}

// dropUpdates takes the oldest updates from the queue; world.mu is held.
func (b *bot) dropUpdates(n int) {
	b.world.updateBytes -= b.queuedBytes(b.updates[:n])
	clear(b.updates[:n])
	if b.updates = b.updates[n:]; len(b.updates) == 0 {
		b.updates = nil
	}
}

// pending returns the oldest updates from an id on.
func (b *bot) pending(from int64, limit int) []json.RawMessage {
	expired := b.world.clock.now().Add(-updateLifetime)
	b.dropUpdates(b.countUpdates(func(u update) bool { return u.at.Before(expired) }))
	list := []json.RawMessage{}
	for _, u := range b.updates {
		if u.id >= from && len(list) < limit {
			list = append(list, u.body)
		}
	}
	return list
}

// countUpdates is how many of the oldest updates a condition holds for.
func (b *bot) countUpdates(matches func(update) bool) int {
	n := 0
	for n < len(b.updates) && matches(b.updates[n]) {
		n++
	}
	return n
}

// confirm forgets the updates before an id.
func (b *bot) confirm(before int64) {
	b.dropUpdates(b.countUpdates(func(u update) bool { return u.id < before }))
}

// allow changes the kinds of updates by the parameter allowed_updates: without
// it nothing changes, an empty list means all.
func (b *bot) allow(p params) {
	var kinds []string
	if json.Unmarshal([]byte(p.values["allowed_updates"]), &kinds) != nil {
		return
	}
	if b.allowed = kinds; len(kinds) == 0 {
		b.allowed = nil
	}
}
