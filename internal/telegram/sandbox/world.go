package sandbox

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// world is everything the server remembers, from one Reset to the next. A call
// belongs to the world it began in. Its mutex is never held while waiting.
type world struct {
	options Options
	workers *sync.WaitGroup // goroutines that Close waits for
	ctx     context.Context // ends with the world
	cancel  context.CancelFunc
	clock   clock

	mu        sync.Mutex // guards the fields below
	dice      *rand.Rand
	limits    Limits
	faults    []*ActiveFault
	faultIDs  int
	budget    budget
	forgotten forgotten
	bots      map[int64]*bot
	botOrder  recency[*bot]
	unclaimed []func(*bot) // updates from before the first bot called
	chats     map[int64]*chat
	chatOrder recency[*chat] // by what happened in them
	files     map[string]*sentFile
	lastFile  int
	callbacks map[string]callback // by the query's id
	messages  *journal[*Message]
	calls     *journal[*Call]
	asides    *journal[aside]
	uploads   *journal[*sentFile]
	queries   *journal[string] // ids of callbacks

	checkouts pending[checkout]
	inline    pending[inlineQuery]

	steps  *journal[step] // what was done from outside
	topics int            // of all chats

	updateBytes int // of all updates that wait
	stats       Stats
	recent      window // deliveries of the last seconds, for maxPerSecond
	began       time.Time
	changes     uint64        // what the page shows has changed so often
	changed     chan struct{} // closed and replaced at each change, and when a call begins
	traffic     traffic

	lastCall    uint64
	lastLine    uint64
	lastMessage int64
	firstUpdate int64 // the id of the first update of each bot
}

// The journals keep so many entries, if their part of the memory allows, and
// then forget the oldest; the counters of Stats go on.
const (
	maxCalls    = 100_000
	maxMessages = 200_000
)

func newWorld(options Options, workers *sync.WaitGroup) *world {
	dice := rand.New(rand.NewPCG(options.Seed, 0))
	w := &world{
		options:     options,
		workers:     workers,
		dice:        dice,
		limits:      DefaultLimits(),
		bots:        map[int64]*bot{},
		chats:       map[int64]*chat{},
		files:       map[string]*sentFile{},
		callbacks:   map[string]callback{},
		recent:      window{span: time.Second},
		began:       time.Now(),
		changed:     make(chan struct{}),
		firstUpdate: firstUpdateID(dice),
	}
	w.keepJournals()
	w.botOrder.most, w.chatOrder.most = maxBots, w.budget.chats
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// firstUpdateID is somewhere from two million to a thousand million, as with a
// new bot.
func firstUpdateID(dice *rand.Rand) int64 {
	const lowest, highest = 2_000_000, 1_000_000_000
	return lowest + dice.Int64N(highest-lowest)
}

// successor is the world after a reset. The ids go on, because a client that
// remembers old ones must not mistake new ones for them.
func (w *world) successor() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := newWorld(w.options, w.workers)
	next.lastMessage, next.firstUpdate = w.lastMessage, w.firstUpdate
	for _, b := range w.bots {
		next.firstUpdate = max(next.firstUpdate, b.nextUpdate)
	}
	return next
}

// end lets go of every call that waits in this world. It takes the mutex, so
// that whoever has seen the world alive under it has begun before the end.
func (w *world) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel()
}

func (w *world) alive() bool { return w.ctx.Err() == nil }

// sleepUntil waits for an instant. It is false when the context ended before.
func sleepUntil(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
