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
	at := time.Now()
	deliver := func(b *bot) { b.enqueue(kind, content(b), at) }
	if len(w.bots) == 0 {
		if len(w.unclaimed) < maxUpdates {
			w.unclaimed = append(w.unclaimed, deliver)
		}
		return
	}
	for _, b := range w.bots {
		deliver(b)
	}
}

// enqueue puts an update into the bot's queue, if it wants that kind.
func (b *bot) enqueue(kind string, content any, at time.Time) {
	if !b.allows(kind) || len(b.updates) >= maxUpdates {
		return
	}
	// Some clients take the second key for the kind, so the id has to be first.
	body := fmt.Appendf(nil, `{"update_id":%d,%q:%s}`, b.nextUpdate, kind, encode(content))
	b.updates = append(b.updates, update{b.nextUpdate, body, at})
	b.nextUpdate++
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// pending returns the oldest updates from an id on.
func (b *bot) pending(from int64, limit int) []json.RawMessage {
	expired := time.Now().Add(-updateLifetime)
	b.updates = slices.DeleteFunc(b.updates, func(u update) bool { return u.at.Before(expired) })
	list := []json.RawMessage{}
	for _, u := range b.updates {
		if u.id >= from && len(list) < limit {
			list = append(list, u.body)
		}
	}
	return list
}

// confirm forgets the updates before an id.
func (b *bot) confirm(before int64) {
	b.updates = slices.DeleteFunc(b.updates, func(u update) bool { return u.id < before })
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
