package sandbox

import (
	"math/rand/v2"
	"sync"
	"time"
)

// world is everything the server remembers, from one Reset to the next. A call
// belongs to the world it began in. Its mutex is never held while waiting.
type world struct {
	options Options
	done    chan struct{} // closed by end
	once    sync.Once

	mu       sync.Mutex // guards the fields below
	dice     *rand.Rand
	limits   Limits
	faults   []*ActiveFault
	faultIDs int
	bots     map[int64]*bot
	chats    map[int64]*chat
	messages *journal[*Message]
	calls    *journal[*Call]
	stats    Stats
	recent   window        // deliveries of the last seconds, for maxPerSecond
	arrival  chan struct{} // closed and replaced at each delivery

	lastCall    uint64
	lastMessage int64
	nextUpdate  int64
}

// The journals keep this much and then forget the oldest entries; the counters
// of Stats go on.
const (
	maxCalls        = 100_000
	maxMessages     = 200_000
	maxJournalBytes = 128 << 20
)

func newWorld(options Options) *world {
	dice := rand.New(rand.NewPCG(options.Seed, 0))
	return &world{
		options:    options,
		done:       make(chan struct{}),
		dice:       dice,
		limits:     DefaultLimits(),
		bots:       map[int64]*bot{},
		chats:      map[int64]*chat{},
		messages:   &journal[*Message]{maxEntries: maxMessages, maxBytes: maxJournalBytes},
		calls:      &journal[*Call]{maxEntries: maxCalls, maxBytes: maxJournalBytes},
		recent:     window{span: time.Second},
		arrival:    make(chan struct{}),
		nextUpdate: firstUpdateID(dice),
	}
}

// firstUpdateID is somewhere from two million to a thousand million, as with a
// new bot.
func firstUpdateID(dice *rand.Rand) int64 {
	const lowest, highest = 2_000_000, 1_000_000_000
	return lowest + dice.Int64N(highest-lowest)
}

// successor is the world after a reset; w.mu is held.
func (w *world) successor(options Options) *world {
	next := newWorld(options)
	next.lastMessage, next.nextUpdate = w.lastMessage, w.nextUpdate
	return next
}

// end lets go of every call that waits in this world.
func (w *world) end() { w.once.Do(func() { close(w.done) }) }

func (w *world) alive() bool {
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// bot is one bot that has called.
type bot struct {
	id      int64
	limiter *limiter
}

func (w *world) bot(id int64) *bot {
	b, known := w.bots[id]
	if !known {
		b = &bot{id: id, limiter: newLimiter(w.options.StrictPenalty)}
		w.bots[id] = b
	}
	return b
}
