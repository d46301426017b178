package outbox

import (
	"context"
	"time"
)

// probeTimeout bounds a call that delivers nothing.
const probeTimeout = 10 * time.Second

// signs knows since when the channel has shown that it works: by accepting a message, or by
// answering a Touch. A message that the channel may have taken gets its one further try only
// after such a sign, which is asked for if nothing else brings one.
type signs struct {
	began   time.Time           // of this process: what it was not there to see is no sign
	last    time.Time           // the last sign
	doubted map[int64]time.Time // when messages came into doubt, as far as this process was there
	waiting map[*queue]bool     // recipients whose head waits for a sign
	asking  bool
	step    int
	at      time.Time // not to be asked for before
}

// doubt notes that the channel may have taken a message.
func (s *signs) doubt(message int64, at time.Time) {
	if s.doubted == nil {
		s.doubted = map[int64]time.Time{}
	}
	s.doubted[message] = at
}

func (s *signs) forget(message int64) { delete(s.doubted, message) }

// since says whether there was a sign since a message came into doubt.
func (s *signs) since(message int64) bool {
	from, ok := s.doubted[message]
	if !ok {
		from = s.began
	}
	return s.last.After(from)
}

func (s *signs) want(q *queue) {
	if s.waiting == nil {
		s.waiting = map[*queue]bool{}
	}
	s.waiting[q] = true
}

// oldest is the recipient that waits for a sign and has the oldest message; nil without one.
func (s *signs) oldest() *queue {
	var best *queue
	for q := range s.waiting {
		if best == nil || q.head < best.head {
			best = q
		}
	}
	return best
}

// seen notes a sign, and gives a turn to all that waited for one.
func (d *Dispatcher) seen(at time.Time) {
	d.signs.last, d.signs.step, d.signs.at = at, 0, time.Time{}
	for q := range d.signs.waiting {
		delete(d.signs.waiting, q)
		if d.queues.byKey[q.key] == q {
			d.queues.makeReady(q)
		}
	}
}

// startSignProbe asks for a sign when somebody waits for one.
func (d *Dispatcher) startSignProbe(now time.Time) {
	q := d.signs.oldest()
	if q == nil || d.signs.asking || d.signs.at.After(now) || d.asked.touch.After(now) {
		return
	}
	d.signs.asking = true
	d.touch(q.key, func(a Answer, at time.Time) {
		d.signs.asking = false
		if !a.Answered {
			d.signs.at = at.Add(probeWait(d.signs.step))
			d.signs.step++
		}
	})
}

// methodGates are the times before which a method that was told "too fast" is not called again.
// They hold nothing else up.
type methodGates struct{ identify, touch time.Time }

// touch asks something of a recipient that delivers nothing. Any answer is a sign of life.
func (d *Dispatcher) touch(address string, then func(Answer, time.Time)) {
	d.probe(func(ctx context.Context) Answer { return d.sender.Touch(ctx, address) },
		func(a Answer, at time.Time) {
			if a.Verdict == Wait {
				d.asked.touch = at.Add(max(a.Wait, floodWait(0)))
			}
			then(a, at)
			if a.Answered {
				d.seen(at)
			}
		})
}

// identify asks the channel who we are.
func (d *Dispatcher) identify(then func(Answer, time.Time)) {
	d.probe(d.sender.Identify, func(a Answer, at time.Time) {
		if a.Verdict == Wait {
			d.asked.identify = at.Add(max(a.Wait, floodWait(0)))
		}
		then(a, at)
	})
}

func (d *Dispatcher) probe(ask func(context.Context) Answer, then func(Answer, time.Time)) {
	d.probes++
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		a := ask(ctx)
		d.events <- event{probed: then, answer: a, at: time.Now()}
	}()
}

// startProbing does what the open breaker wants next.
func (d *Dispatcher) startProbing(ctx context.Context, now time.Time) (time.Time, error) {
	held := ErrOutage
	if d.breaker.Stopped() {
		held = ErrStopped
	}
	q := d.nextDue()
	if q == nil {
		return time.Time{}, held
	}
	step, _ := d.breaker.Next(now)
	switch step {
	case StepIdentify:
		d.breaker.Identifying()
		if d.asked.identify.After(now) { // it did answer, and wants to be left alone
			d.breaker.Identified(Answer{Answered: true}, now)
			return d.startProbing(ctx, now)
		}
		d.identify(d.breaker.Identified)
	case StepTouch:
		d.breaker.Touching()
		if d.asked.touch.After(now) {
			d.breaker.Touched(Answer{Answered: true}, now)
			return d.startProbing(ctx, now)
		}
		d.touch(q.key, d.breaker.Touched)
	case StepCanary:
		until, err := d.startCanary(ctx, now)
		if err != nil || !until.IsZero() {
			return until, err
		}
	case StepNone:
	}
	return time.Time{}, held
}

// nextDue is the recipient with the next due message, as far as is known without looking, of
// another than whose message failed last where there is one.
func (d *Dispatcher) nextDue() *queue {
	avoid, _ := d.breaker.Avoid()
	q := d.queues.ready.first(func(q *queue) bool { return q.key != avoid && !waitsForLink(q.key) })
	if q == nil {
		q = d.queues.ready.top()
	}
	if q == nil {
		q = d.signs.oldest()
	}
	return q
}

// startCanary sends one message. It goes through the due ones until one can be sent, those of
// the recipient that failed last at the end.
func (d *Dispatcher) startCanary(ctx context.Context, now time.Time) (time.Time, error) {
	if until, ok := d.mayStart(now); !ok {
		return until, nil
	}
	avoid, strictly := d.breaker.Avoid()
	started, err := d.startOne(ctx, now, func() *queue {
		q := d.queues.ready.first(func(q *queue) bool { return q.key != avoid })
		if q == nil && !strictly {
			q = d.queues.ready.top()
		}
		return q
	})
	if err == nil && !started {
		d.breaker.NoOther()
	}
	return time.Time{}, err
}

// greet asks who we are at the start, until the channel has answered: it tells the channel's
// clock, and whether the token is good, before there is anything to send.
func (d *Dispatcher) greet(now time.Time) {
	if d.greeting.done || d.greeting.asking || d.greeting.at.After(now) {
		return
	}
	d.greeting.asking = true
	d.identify(func(a Answer, at time.Time) {
		d.greeting.asking = false
		if a.Verdict == BotStopped {
			d.breaker.Refused(0, a.Detail, at)
		}
		if d.greeting.done = a.Answered; !a.Answered {
			d.greeting.at = at.Add(probeWait(d.greeting.step))
			d.greeting.step++
		}
	})
}

// greeting is how far greet has come.
type greeting struct {
	done, asking bool
	step         int
	at           time.Time
}
