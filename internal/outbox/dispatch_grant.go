package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"notifier/internal/database"
)

// call is one attempt that is under way.
type call struct {
	attempt, message int64
	address          string
	epoch            int64
	created          time.Time // when the message was created or planned for
	letter           Letter
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
	if p.private {
		if err := r.grantThrough(tx, n, p.avoid, ` AND substr(address, 1, 1) <> '-'`); err != nil {
			return err
		}
	}
	if err := r.grantThrough(tx, n, p.avoid, ""); err != nil {
		return err
	}
	if p.avoid != "" && !p.never && len(r.granted) < n {
		return r.grantThrough(tx, n, "", "")
	}
	return nil
}

// grantThrough walks over the due turns in pages. Each recipient is looked at once in a round.
func (r *round) grantThrough(tx database.Tx, n int, avoid, only string) error {
	const others = 8 // how many more than are needed are read, as some cannot go
	for rank := rankReply; rank <= rankBroadcast; rank++ {
		var last *candidate
		for len(r.granted) < n {
			limit := min(n-len(r.granted)+others, r.d.config.BatchSize)
			page, err := r.candidatesOf(tx, rank, last, limit, only)
			if err != nil {
				return err
			}
			for _, c := range page {
				last = &c
				if c.address == avoid || r.isGranted(c.address) {
					continue
				}
				if len(r.granted) == n {
					return nil
				}
				if err := r.decide(tx, c); err != nil {
					return err
				}
			}
			if len(page) < limit {
				break
			}
		}
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
		WHERE channel = ?1 AND turn_rank = ?2 AND turn_at IS NOT NULL AND turn_at <= ?3 AND turn_at >= ?4
			AND (turn_at > ?4 OR head > ?5)`+only+`
		ORDER BY turn_at, head LIMIT ?6`,
		r.d.box.channel, rank, r.horizon().UnixMilli(), after.at, after.head, limit)
	if err != nil {
		return nil, fmt.Errorf("look for what is due: %w", err)
	}
	return page, nil
}

// decide looks at the head of a recipient and does what is due: it opens an attempt, or ends a
// message that cannot go, or lets the recipient wait.
func (r *round) decide(tx database.Tx, c candidate) error {
	box := r.d.box
	m, err := box.Message(tx, c.head)
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.again = true
		r.ended++
		return box.rejectUnreadable(tx, r.now, c.head, err)
	}
	if err != nil || m.State != Pending || m.line != c.address {
		box.touch(tx, c.address) // the turn was not what its message says
		return nil
	}
	to, err := box.Recipient(tx, c.address)
	if err != nil {
		return err
	}
	if until := r.notBefore(m, to); until.After(r.now) {
		r.next = earlier(r.next, until)
		return nil
	}
	if over := !box.policy.expiry(m, r.pauses, r.wall).After(r.wall); over && !r.d.clock.Known() {
		return nil // neither ended nor sent until the channel has told its time
	} else if over && r.d.clock.Trusted() {
		return r.end(tx, m, ending{Dead, ReasonExpired, "", r.now})
	}
	if m.Doubts > 0 {
		seen, err := r.signSince(tx, m)
		if err != nil || !seen {
			return err
		}
	}
	if at := r.d.limiter.NextTo(c.address, r.now); at.After(r.now) {
		to.paceUntil, to.paceWait = wholeMillis(at), at.Sub(r.now)
		r.consider(to.paceUntil, true)
		return box.save(tx, to)
	}
	return r.open(tx, c, m, to)
}

// notBefore is when the head of a recipient may go, by our own time: after the recipient's gate,
// doubt and pace and the message's own wait.
func (r *round) notBefore(m Message, to Recipient) time.Time {
	at := latest(
		onClock(to.GateUntil, to.gateWait, r.now),
		onClock(to.doubtUntil, to.doubtWait, r.now),
		onClock(to.paceUntil, to.paceWait, r.now))
	if m.readyWait > 0 {
		at = latest(at, onClock(m.readyAt, m.readyWait, r.now))
	}
	return at
}

// signSince says whether the channel has shown life since a message came into doubt, and otherwise
// notes that somebody waits for that.
func (r *round) signSince(tx database.Tx, m Message) (bool, error) {
	var ended sql.NullInt64
	err := tx.QueryRow(`SELECT max(ended_at) FROM notifier_attempts WHERE message_id = ? AND result = 'uncertain'`, m.ID).Scan(&ended)
	if err != nil {
		return false, fmt.Errorf("look when message %d came into doubt: %w", m.ID, err)
	}
	// What this process was not there to see is no sign.
	since := latest(earlier(instant(ended), r.now), r.d.clock.anchor)
	if r.machine.signSince(since) {
		return true, nil
	}
	if r.want == "" {
		r.want = m.line
		if ask, _ := r.machine.maySign(r.now); ask && r.ask == probeNone {
			r.ask, r.whom = probeSign, m.line
			r.machine, _ = r.machine.step(askingEvent{probeSign}, r.now)
		}
	}
	return false, nil
}

// end ends a message without a call. Its recipient's next one gets its turn in the next round.
func (r *round) end(tx database.Tx, m Message, e ending) error {
	r.ended++
	r.again = true
	return r.d.box.finish(tx, m, e)
}

// open writes the attempt. Without its row there is no call.
func (r *round) open(tx database.Tx, c candidate, m Message, to Recipient) error {
	letter, err := r.d.compose(m)
	if err != nil {
		e := ending{Dead, ReasonTemplateError, shorten(err.Error()), r.now}
		var refused *Refusal
		if errors.As(err, &refused) {
			e.reason, e.detail = refused.Reason, refused.Detail
		}
		return r.end(tx, m, e)
	}
	granted := call{
		message: m.ID, address: c.address, epoch: to.epoch, letter: letter, started: r.now,
		created: latest(m.CreatedAt, m.NotBefore, m.ageFrom),
	}
	err = tx.QueryRow(`INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at)
		VALUES (?, ?, ?, ?, ?) RETURNING id`, r.d.box.channel, m.ID, c.address, to.epoch, r.now.UnixMilli()).Scan(&granted.attempt)
	if err != nil {
		return fmt.Errorf("open an attempt for message %d: %w", m.ID, err)
	}
	if _, err := tx.Exec(`UPDATE outbox SET state = 'sending', ready_wait = 0 WHERE id = ?`, m.ID); err != nil {
		return fmt.Errorf("open an attempt for message %d: %w", m.ID, err)
	}
	r.d.box.countMove(tx, m, Sending, "")
	r.d.box.touch(tx, c.address)
	r.machine, _ = r.machine.step(startedEvent{granted.attempt}, r.now)
	r.granted = append(r.granted, granted)
	return nil
}

// compose turns a message into what the channel takes. A panic of a template is the message's own
// trouble.
func (d *Dispatcher) compose(m Message) (l Letter, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("composing a message panicked", "message", m.ID, "type", m.Type)
			l, err = nil, &Refusal{ReasonTemplateError, "its template panicked"}
		}
	}()
	return d.sender.Compose(Draft{MessageID: m.ID, Address: m.line, Type: m.Type, Payload: m.Payload, Plain: m.plain})
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
