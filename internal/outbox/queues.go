package outbox

import (
	"container/heap"
	"time"
)

// queue is one recipient with messages that wait, as far as the dispatcher has to remember it.
// It says only when to look at the recipient: what there is to do is read from the database then.
type queue struct {
	key     string    // the address, or the alias that waits for one
	head    int64     // no message of it that waits has a smaller id
	since   time.Time // while in queues.ready: when its turn came
	until   time.Time // while in queues.later: when to look
	paced   bool      // it waits for the pace alone
	planned bool      // it waits for the planned time of its only messages: a new one may go before
	expires time.Time // no message of it expires before; zero: not known to expire
	flying  bool      // a call is under way

	ready, later, expiring int // places in the heaps, -1 outside
}

// queues are all recipients with messages that wait, in the orders in which they are looked at.
type queues struct {
	byKey map[string]*queue
	// ready may be looked at now: whoever's turn came first, and of those together whose message is
	// the oldest. Were the oldest message always first, a chat with many would stay ahead of all
	// others, and the last ones would wait out their own pace alone at the end.
	ready    queueHeap
	later    queueHeap // not before until
	expiring queueHeap
	paced    int       // how many in later wait for the pace alone
	now      time.Time // of the present round
}

func newQueues() *queues {
	return &queues{
		byKey: map[string]*queue{},
		ready: queueHeap{
			less: func(a, b *queue) bool {
				return a.since.Before(b.since) || a.since.Equal(b.since) && a.head < b.head
			},
			place: func(q *queue) *int { return &q.ready },
		},
		later: queueHeap{
			less:  func(a, b *queue) bool { return a.until.Before(b.until) },
			place: func(q *queue) *int { return &q.later },
		},
		expiring: queueHeap{
			less:  func(a, b *queue) bool { return a.expires.Before(b.expires) },
			place: func(q *queue) *int { return &q.expiring },
		},
	}
}

// add notes that a message with this id, or one of several, waits for key.
func (s *queues) add(key string, id int64, expires time.Time) *queue {
	q := s.byKey[key]
	if q == nil {
		q = &queue{key: key, head: id, ready: -1, later: -1, expiring: -1}
		s.byKey[key] = q
		s.makeReady(q)
	}
	if id < q.head {
		q.head = id
		s.ready.fix(q)
	}
	s.expiresBy(q, expires)
	return q
}

// expiresBy notes that something of q may expire at this instant.
func (s *queues) expiresBy(q *queue, at time.Time) {
	if at.IsZero() || !q.expires.IsZero() && !at.Before(q.expires) {
		return
	}
	q.expires = at
	s.expiring.put(q)
}

// makeReady lets q be looked at as soon as there is room, unless a call of it is under way.
func (s *queues) makeReady(q *queue) {
	turn := s.now
	if q.later >= 0 && q.until.Before(turn) {
		turn = q.until
	}
	s.unplan(q)
	if !q.flying && q.ready < 0 {
		q.since = turn
		s.ready.put(q)
	}
}

// wait lets q be looked at again at an instant; paced says that only the pace stands between.
func (s *queues) wait(q *queue, until time.Time, paced bool) {
	s.ready.remove(q)
	s.unplan(q)
	q.until, q.paced = until, paced
	if paced {
		s.paced++
	}
	s.later.put(q)
}

// fly takes q out of all turns while its call is under way.
func (s *queues) fly(q *queue) {
	s.ready.remove(q)
	s.unplan(q)
	q.flying = true
}

func (s *queues) unplan(q *queue) {
	s.later.remove(q)
	q.planned = false
	if q.paced {
		q.paced = false
		s.paced--
	}
}

// drop forgets q: nothing of it waits any more.
func (s *queues) drop(q *queue) {
	s.ready.remove(q)
	s.unplan(q)
	s.expiring.remove(q)
	delete(s.byKey, q.key)
}

// promote makes those ready whose time has come.
func (s *queues) promote(now time.Time) {
	for q := s.later.top(); q != nil && !q.until.After(now); q = s.later.top() {
		s.makeReady(q)
	}
}

// lookAgain makes everything ready that is not under way.
func (s *queues) lookAgain() {
	for _, q := range s.byKey {
		s.makeReady(q)
	}
}

// queueHeap is a heap of queues that knows each one's place.
type queueHeap struct {
	list  []*queue
	less  func(a, b *queue) bool
	place func(*queue) *int
}

func (h *queueHeap) top() *queue {
	if len(h.list) == 0 {
		return nil
	}
	return h.list[0]
}

// put adds q, or moves it to where it belongs now.
func (h *queueHeap) put(q *queue) {
	if *h.place(q) < 0 {
		heap.Push(h, q)
		return
	}
	h.fix(q)
}

func (h *queueHeap) fix(q *queue) {
	if i := *h.place(q); i >= 0 {
		heap.Fix(h, i)
	}
}

func (h *queueHeap) remove(q *queue) {
	if i := *h.place(q); i >= 0 {
		heap.Remove(h, i)
	}
}

// first is the queue with the oldest message among those that fit. It looks at all of them.
func (h *queueHeap) first(fits func(*queue) bool) *queue {
	var best *queue
	for _, q := range h.list {
		if fits(q) && (best == nil || h.less(q, best)) {
			best = q
		}
	}
	return best
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h *queueHeap) Len() int           { return len(h.list) }
func (h *queueHeap) Less(i, j int) bool { return h.less(h.list[i], h.list[j]) }
func (h *queueHeap) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	*h.place(h.list[i]), *h.place(h.list[j]) = i, j
}

// Push implements heap.Interface.
func (h *queueHeap) Push(x any) {
	q := x.(*queue) //nolint:forcetypeassert // only queues are pushed
	*h.place(q) = len(h.list)
	h.list = append(h.list, q)
}

// Pop implements heap.Interface.
func (h *queueHeap) Pop() any {
	last := len(h.list) - 1
	q := h.list[last]
	h.list[last] = nil
	h.list = h.list[:last]
	*h.place(q) = -1
	return q
}
