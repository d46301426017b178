package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"notifier/internal/database"
)

// call is one attempt that is under way.
type call struct {
	attempt, message int64
	address          string
	epoch            int64
	created          time.Time // when the message was created or planned for
	letter           Composed
	started          time.Time // when the pace granted it
	cancel           context.CancelFunc
}

// candidate is a recipient whose turn has come.
type candidate struct {
	address string
	head    int64
	at      int64
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// horizon is up to when turns are looked at. Other processes stamp what they want at once by the
// wall clock, which may be ahead of ours; decide compares what holds a recipient with our own time.
func (r *round) horizon() time.Time { return r.now.Add(r.d.clock.Ahead()) }

// grant opens attempts for as many due messages as may go now.
func (r *round) grant(tx database.Tx) error {
	next, err := r.firstCandidates(tx)
	if err != nil {
		return err
	}
	r.due = len(next) > 0
	p := r.machine.may(r.now, r.due)
	r.held = p.held
	r.next = earlier(r.next, p.until)
	if !r.due {
		return nil
	}
	if p.probe != probeNone {
		r.startProbe(p, next)
		return nil
	}
	free := min(p.calls, r.d.config.Concurrency-len(r.d.calls))
	if free <= 0 {
		return nil
	}
	room, at := r.d.limiter.Room(r.now)
	if room <= 0 {
		r.limited = true
		r.next = earlier(r.next, at)
		return nil
	}
	if err := r.grantTo(tx, p, min(free, room)); err != nil {
		return err
	}
	if p.calls == 1 && len(r.granted) == 0 && r.want != "" && r.machine.breaker.Open() {
		r.machine, _ = r.machine.step(onlyDoubtedEvent{}, r.now)
		r.again = true
	}
	if p.calls == 1 && len(r.granted) == 0 && p.never {
		r.machine, _ = r.machine.step(noOtherEvent{}, r.now)
		r.again = true
	}
	r.more = p.calls > 1 && len(r.granted) == min(free, room)
	return nil
}

// grantTo goes through those whose turn it is, by rank and by how long they have waited, until n calls are
// granted. In another order where the rules want one: a private chat first, or one to avoid last.
func (r *round) grantTo(tx database.Tx, p permit, n int) error {
	if r.machine.guard.Active() {
		return r.grantInTurn(tx, n)
	}
	if !p.private && p.avoid == "" {
		return r.grantThrough(tx, n, "", "", &r.sweep)
	}
	if p.private {
		if err := r.grantThrough(tx, n, p.avoid, ` AND substr(address, 1, 1) <> '-'`, &sweep{}); err != nil {
			return err
		}
	}
	if err := r.grantThrough(tx, n, p.avoid, "", &sweep{}); err != nil {
		return err
	}
	if p.avoid != "" && !p.never && len(r.granted) < n {
		return r.grantThrough(tx, n, "", "", &sweep{})
	}
	return nil
}

// grantInTurn lets whoever has waited longest try, whatever the rank: while the guard holds, each
// waiting chat is tried in turn, and one that is refused goes behind the others.
func (r *round) grantInTurn(tx database.Tx, n int) error {
	var first []candidate
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		page, err := r.candidatesOf(tx, rank, nil, mostRows/4, "")
		if err != nil {
			return err
		}
		first = append(first, page...)
	}
	slices.SortStableFunc(first, func(a, b candidate) int { return cmp.Compare(a.at, b.at) })
	for _, c := range first {
		if len(r.granted) == n {
			return nil
		}
		if err := r.decide(tx, c); err != nil {
			return err
		}
	}
	return nil
}

// sweep is, for each rank, the recipient behind which a walk over those that are due goes on.
type sweep [rankBroadcast + 1]*candidate

// grantThrough walks over the due turns in pages. Each recipient is looked at once in a round, and mostRows of
// them at most: thousands may be due and yet wait, until the channel has told its time or shown life. The next
// round goes on behind them; at the end of a rank the walk begins anew with the next event.
func (r *round) grantThrough(tx database.Tx, n int, avoid, only string, from *sweep) error {
	const others = 8 // how many more than are needed are read, as some cannot go
	looked := 0
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		last := from[rank]
		for len(r.granted) < n {
			limit := min(n-len(r.granted)+others, r.d.config.BatchSize)
			page, err := r.candidatesOf(tx, rank, last, limit, only)
			if err != nil {
				return err
			}
			for _, c := range page {
				if len(r.granted) == n {
					return nil
				}
				if looked++; looked > mostRows {
					from[rank] = last
					r.again = r.again || from == &r.sweep
					return nil
				}
				last = &c
				if c.address == avoid || r.isGranted(c.address) {
					continue
				}
				if err := r.decide(tx, c); err != nil {
					return err
				}
			}
			if len(page) < limit {
				break
			}
		}
		from[rank] = nil
	}
	return nil
}

func (r *round) isGranted(address string) bool {
	for _, c := range r.granted {
		if c.address == address {
			return true
		}
	}
	return false
}

// firstCandidates are the first two whose turn has come.
func (r *round) firstCandidates(tx database.Tx) ([]candidate, error) {
	var list []candidate
	for rank := rankReply; rank <= rankBroadcast && len(list) < 2; rank++ {
		page, err := r.candidatesOf(tx, rank, nil, 2, "")
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
	}
	return list, nil
}

func (r *round) candidatesOf(tx database.Tx, rank int, last *candidate, limit int, only string) ([]candidate, error) {
	after := candidate{at: -1}
	if last != nil {
		after = *last
	}
	var page []candidate
	err := each(tx, func(row database.Row) error {
		var c candidate
		err := row.Scan(&c.address, &c.head, &c.at)
		page = append(page, c)
		return err
	}, `SELECT address, head, turn_at FROM notifier_recipients INDEXED BY notifier_recipients_turn
		WHERE channel = ?1 AND turn_rank = ?2 AND turn_at IS NOT NULL AND turn_at <= ?3
			AND (turn_at, head) > (?4, ?5)`+only+`
		ORDER BY turn_at, head LIMIT ?6`,
		r.d.box.channel, rank, r.horizon().UnixMilli(), after.at, after.head, limit)
	if err != nil {
		return nil, fmt.Errorf("look for what is due: %w", err)
	}
	return page, nil
}

// launch makes a call beside the pass. Shutting down does not end it: only its own time limit
// does, since a call that is cut off may have been taken.
func (d *Dispatcher) launch(c call) {
	ctx, cancel := context.WithTimeout(context.Background(), d.config.SendTimeout)
	c.cancel = cancel
	d.calls[c.attempt] = c
	d.report.Attempts++
	go func() {
		defer cancel()
		a := d.sender.Send(ctx, c.address, c.letter)
		d.results <- result{attempt: c.attempt, answer: a, at: time.Now()}
	}()
}

// replaced says that another process sends now, and ends the calls under way: the other process
// takes them for uncertain.
func (d *Dispatcher) replaced(cause error) error {
	for _, c := range d.calls {
		c.cancel()
	}
	if errors.Is(cause, ErrReplaced) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrReplaced, cause)
}

// probeTimeout bounds a call that delivers nothing.
const probeTimeout = 10 * time.Second

// startProbe does what the open breaker wants: it asks the channel who we are, or touches a chat
// that has a message due. A method that was told to wait is not called: the channel did answer.
func (r *round) startProbe(p permit, due []candidate) {
	whom := due[0].address
	if whom == p.avoid && len(due) > 1 {
		whom = due[1].address
	}
	r.machine, _ = r.machine.step(askingEvent{p.probe}, r.now)
	if r.machine.waiting(p.probe, r.now) {
		r.machine, _ = r.machine.step(askedEvent{probe: p.probe, answer: CallResult{Answered: true}, skipped: true}, r.now)
		r.again = true
		return
	}
	r.ask, r.whom = p.probe, whom
}

// greet asks who we are at the start, until the channel has answered: it tells the channel's
// clock, and whether the token is good, before there is anything to send.
func (r *round) greet() {
	if greet, _ := r.machine.mayGreet(r.now); greet && r.ask == probeNone {
		r.machine, _ = r.machine.step(askingEvent{probeGreeting}, r.now)
		r.ask = probeGreeting
	}
}

// probe makes a call that delivers nothing, beside the pass.
func (d *Dispatcher) probe(p probe, whom string) {
	d.probes++
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		var a CallResult
		if p == probeTouch || p == probeSign {
			a = d.sender.Touch(ctx, whom)
		} else {
			a = d.sender.Identify(ctx)
		}
		d.results <- result{probe: p, answer: a, at: time.Now()}
	}()
}
