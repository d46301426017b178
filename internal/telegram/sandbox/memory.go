package sandbox

import (
	"container/list"
	"slices"
	"time"
)

// The memory a sandbox may take, in bytes.
const (
	defaultMemory = 256 << 20
	minMemory     = 16 << 20
	maxMemory     = 1 << 40
)

// budget is how much of the memory each kind of thing may take, in bytes. Go's
// collector lets the heap grow to about twice what is in use, so the parts
// together are half of the bound. What goes beyond its part makes the oldest of
// its kind be forgotten.
type budget struct {
	messages int
	calls    int
	asides   int // what customers said, notices and failures
	updates  int
	chats    int // a number of chats, not of bytes
	files    int
}

// chatSize is about how much a chat takes without its lines, in bytes.
const chatSize = 1 << 10

func budgetOf(memory int64) budget {
	half := min(max(memory, minMemory), maxMemory) / 2
	part := func(percent int64) int { return int(half * percent / 100) }
	return budget{
		messages: part(30), calls: part(25), asides: part(8), updates: part(10), files: part(12),
		chats: part(15) / chatSize,
	}
}

// forgotten counts what was given up for want of room.
type forgotten struct {
	Messages int `json:"messages,omitempty"`
	Calls    int `json:"calls,omitempty"`
	Lines    int `json:"lines,omitempty"` // of chats, besides messages of bots
	Updates  int `json:"updates,omitempty"`
	Chats    int `json:"chats,omitempty"`
	Bots     int `json:"bots,omitempty"`
	Files    int `json:"files,omitempty"`
}

// aside is a line of a chat that is no message of a bot.
type aside struct {
	chatID int64
	key    uint64
}

// The bounds of what is counted rather than weighed.
const (
	maxBots      = 500
	maxCallbacks = 10_000
	maxUnclaimed = 10_000
)

// keepJournals makes the journals of a world, each within its part.
func (w *world) keepJournals() {
	b := budgetOf(w.options.Memory)
	w.budget = b
	w.messages = &journal[*Message]{maxEntries: maxMessages, maxBytes: b.messages, forget: w.forgetMessage}
	w.calls = &journal[*Call]{maxEntries: maxCalls, maxBytes: b.calls, forget: func(*Call) { w.forgotten.Calls++ }}
	w.asides = &journal[aside]{maxEntries: maxCalls, maxBytes: b.asides, forget: w.forgetAside}
	w.uploads = &journal[*sentFile]{maxEntries: maxMessages, maxBytes: b.files, forget: w.forgetFile}
	w.steps = &journal[step]{maxEntries: maxSteps, maxBytes: b.asides / 2}
	w.queries = &journal[string]{maxEntries: maxCallbacks, maxBytes: maxCallbacks, forget: func(id string) { delete(w.callbacks, id) }}
}

func (w *world) forgetMessage(m *Message) {
	w.forgotten.Messages++
	if c, known := w.chats[m.ChatID]; known {
		c.lines = slices.DeleteFunc(c.lines, func(l line) bool { return l.message == m })
	}
}

func (w *world) forgetAside(a aside) {
	c, known := w.chats[a.chatID]
	if !known {
		return
	}
	before := len(c.lines)
	c.lines = slices.DeleteFunc(c.lines, func(l line) bool { return l.key == a.key })
	w.forgotten.Lines += before - len(c.lines)
}

func (w *world) forgetFile(f *sentFile) {
	w.forgotten.Files++
	delete(w.files, f.id)
}

// recency is an order of things by their latest use, the latest first.
type recency[T any] struct {
	order list.List
	most  int
}

// add notes something new and gives what is to be forgotten for it, the longest
// unused.
func (r *recency[T]) add(thing T) (*list.Element, []T) {
	element := r.order.PushFront(thing)
	var old []T
	for r.most > 0 && r.order.Len() > r.most {
		old = append(old, r.order.Remove(r.order.Back()).(T)) //nolint:forcetypeassert // nothing else is put in
	}
	return element, old
}

func (r *recency[T]) use(e *list.Element) { r.order.MoveToFront(e) }

// all goes through the things, the latest used first.
func (r *recency[T]) all(yield func(T) bool) {
	for e := r.order.Front(); e != nil; e = e.Next() {
		if !yield(e.Value.(T)) { //nolint:forcetypeassert // nothing else is put in
			return
		}
	}
}

// forgetBot ends what a bot has going on. What it sent stays.
func (w *world) forgetBot(b *bot) {
	w.forgotten.Bots++
	delete(w.bots, b.id)
	w.updateBytes -= b.queuedBytes(b.updates)
	b.updates = nil
	b.endPoll("the sandbox has forgotten the bot, because too many others have called since")
	if b.webhook != nil {
		b.webhook.cancel()
	}
}

// trimUpdates forgets the oldest updates that nobody has fetched until the rest
// fits; w.mu is held.
func (w *world) trimUpdates() {
	for w.updateBytes > w.budget.updates {
		var oldest *bot
		for _, b := range w.bots {
			if len(b.updates) > 0 && (oldest == nil || b.updates[0].at.Before(oldest.updates[0].at)) {
				oldest = b
			}
		}
		if oldest == nil {
			return
		}
		n := 1 + len(oldest.updates)/100 // a few at once, or each would cost a look at every bot
		w.forgotten.Updates += n
		oldest.dropUpdates(n)
	}
}

// tidy lets go of chats that have nothing to wait for any more.
func (l *limiter) tidy(limits Limits, now time.Time) {
	interval := limits.chatInterval()
	for id, c := range l.chats {
		c.minute.prune(now)
		rested := c.rate.last.IsZero() || interval == 0 || !now.Before(c.rate.last.Add(c.rate.owed(interval)))
		if rested && len(c.minute.events) == 0 && c.isQuiet(now) {
			delete(l.chats, id)
		}
	}
}

func (c *chatLimiter) isQuiet(now time.Time) bool {
	for _, n := range c.notes {
		if !n.idle(now) {
			return false
		}
	}
	return true
}
