package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"notifier/internal/database"
)

// check compares what is stored with the model, and looks for what must never be.
func (h *history) check() {
	m := h.read()
	for address, r := range m.recipients {
		stored, rank, head := int64(-1), int64(0), int64(0)
		if r.hasARow && r.turnAt >= 0 {
			stored, rank, head = r.turnAt, r.turnRank, r.head
		}
		if at, wantRank, wantHead := r.turn(); at != stored || wantRank != rank || wantHead != head {
			h.wrong("the turn of %s is (%d, rank %d, message %d), and should be (%d, %d, %d)", address, stored, rank, head, at, wantRank, wantHead)
		}
	}
	for key, n := range m.real {
		if m.counts[key] != n {
			h.wrong("%s: %d are there, %d are counted", key, n, m.counts[key])
		}
	}
	for key, n := range m.counts {
		if m.real[key] != n {
			h.wrong("%s: %d are there, %d are counted", key, m.real[key], n)
		}
	}
	if n := h.mended.Load(); n > 0 {
		h.wrong("the reconciler mended %d turns", n)
	}
	h.checkWaits(m)
	h.checkGuard(m)
	h.checkDue(m)
	h.checkRest()
	h.checkMemory()
}

// checkMemory compares what the process remembers of the channel with the calls that are under way:
// what a transaction meant for memory holds when it was committed, and only then. Nothing runs now.
func (h *history) checkMemory() {
	if raceDetector {
		return
	}
	select {
	case <-h.process.done:
		return
	default:
	}
	d, underWay, seen := h.process.d, map[int64]bool{}, map[int64]bool{}
	for attempt := range d.calls {
		underWay[attempt] = true
	}
	for _, e := range d.unsaved {
		underWay[e.call.attempt] = true
	}
	if b := d.machine.breaker; b.phase == flyingNow && !underWay[b.canary] {
		h.wrong("attempt %d is the canary of an outage, and not under way", b.canary)
	}
	for attempt := range d.machine.canary.flying {
		if !underWay[attempt] {
			h.wrong("attempt %d is a canary, and not under way", attempt)
		}
	}
	for _, f := range d.machine.breaker.row {
		if seen[f.Attempt] {
			h.wrong("attempt %d counts twice towards an outage", f.Attempt)
		}
		seen[f.Attempt] = true
	}
}

// checkRest looks for a process that goes round in a circle.
func (h *history) checkRest() {
	u := h.channel
	now := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	seconds := int64(now.Sub(h.rested) / time.Second)
	if rounds := u.rounds.Swap(0); rounds > 300+5*u.called+3*seconds {
		h.wrong("%d rounds in %d s with %d calls", rounds, seconds, u.called)
	}
	if u.probed > 30+u.called+2*seconds {
		h.wrong("%d probes in %d s", u.probed, seconds)
	}
	h.rested, u.called, u.probed = now, 0, 0
}

// checkWaits looks for messages that nothing will ever wake, and for failures that an outage explains.
func (h *history) checkWaits(m *model) {
	u := h.channel
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range m.messages {
		if f := u.fates[x.id]; f != nil && x.failures > f.excused {
			h.wrong("message %d has %d counted failures, %d can be explained: %s", x.id, x.failures, f.excused, h.attempts(x.id))
		}
		if x.arrival || x.state == StateSending {
			continue
		}
		r, named := m.recipient(x.address), m.recipient(x.recipient)
		if r.busy || named.busy {
			continue
		}
		at, _, _ := r.turn()
		linked := addressOf(x.recipient, named.alias)
		switch {
		case r.alias != "":
			h.wrong("message %d waits for %s, which is an alias of %s", x.id, x.address, r.alias)
		case x.hold == holdNoChat && linked != "":
			h.wrong("message %d to %s waits for a link although %s is there", x.id, x.recipient, linked)
		case x.hold != holdNoChat && linked != x.address && rootIn(m, linked) != x.address:
			h.wrong("message %d to %s waits for %s instead of %s", x.id, x.recipient, x.address, linked)
		case x.hold == holdNone && at < 0 && !r.sending && !r.attempting:
			h.wrong("message %d to %s, rank %d, waits for %s (%s %s), which has no turn", x.id, x.recipient, x.rank, x.address, r.state, r.reason)
		}
	}
}

// attempts are the calls for a message, in words.
func (h *history) attempts(id int64) string {
	var list []Attempt
	h.must(h.other.Read(context.Background(), func(tx database.Tx) (err error) {
		list, err = h.box.Attempts(tx, id)
		return err
	}))
	var words []string
	for _, a := range list {
		words = append(words, fmt.Sprintf("%d at %s to %s: %s, counted %v, %s", a.ID, a.StartedAt.Format("02T15:04:05.000"), a.Address, a.Result, a.Counted, a.Detail))
	}
	return strings.Join(words, "; ")
}

func rootIn(m *model, address string) string {
	if r := m.recipients[address]; r != nil && r.alias != "" {
		return r.alias
	}
	return address
}

// checkGuard looks for chats that a refusal has killed while the guard held.
func (h *history) checkGuard(m *model) {
	if m.guard != 0 && m.guard == h.guard {
		for address, r := range m.recipients {
			if r.state == RecipientDead && r.reason == RecipientKicked && r.since > m.guard {
				h.wrong("%s has died at %d although the guard holds since %d", address, r.since, m.guard)
			}
		}
	}
	h.guard = m.guard
}

// checkDue looks for a turn that has come, and is not taken although nothing is in the way.
func (h *history) checkDue(m *model) {
	now := time.Now()
	busy := h.broken || h.paused || h.offset.Load() != 0 || m.status != SenderRunning || m.gate > now.UnixMilli() || len(m.tasks) > 0
	h.channel.with(func() { busy = busy || h.channel.mode != healthy })
	if busy || h.duesince.IsZero() || h.process.began.After(h.duesince) {
		h.duesince = now
		return
	}
	if now.Sub(h.duesince) < 20*time.Minute {
		return
	}
	ours := now.Add(h.process.offset) // as the process counts
	for address, r := range m.recipients {
		if r.turnAt >= 0 && r.turnAt < ours.Add(-20*time.Minute).UnixMilli() {
			h.wrong("the turn of %s for message %d came %v ago, and nothing is in the way", address, r.head, ours.Sub(time.UnixMilli(r.turnAt)))
		}
	}
}

// checkGranted checks what is stored of a call that begins.
func (h *history) checkGranted(tx database.Tx, address string, id int64) error {
	var open, sending bool
	var recipient string
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM notifier_attempts WHERE message_id = ?1 AND address = ?2 AND result = 'open'),
		EXISTS (SELECT 1 FROM outbox WHERE id = ?1 AND state = 'sending'), (SELECT recipient FROM outbox WHERE id = ?1)`,
		id, address).Scan(&open, &sending, &recipient)
	if err != nil {
		return err
	}
	if !open || !sending {
		h.wrong("message %d goes without an attempt that is stored (open: %v, sending: %v)", id, open, sending)
	}
	line, orderly := h.lineOf(id)
	if !orderly {
		return nil
	}
	delete(h.plain[line], id)
	for earlier := range h.plain[line] {
		var waits bool
		err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM outbox WHERE id = ? AND state = 'pending' AND hold = 0)`, earlier).Scan(&waits)
		if err != nil {
			return err
		}
		if waits && earlier < id {
			h.wrong("message %d goes before %d, both to %s", id, earlier, line)
		}
	}
	return nil
}

// lineOf finds the line in which a message must keep its order: that of its recipient and rank, as
// long as nobody has put it elsewhere. The channel's lock is held.
func (h *history) lineOf(id int64) (string, bool) {
	for line, ids := range h.plain {
		if ids[id] {
			return line, true
		}
	}
	return "", false
}

// checkEnds checks after a calm that all that waits, waits for a customer's chat or for its time.
func (h *history) checkEnds() {
	m := h.read()
	// Plans are by the wall clock, and by the process's own where that one is not trusted.
	now := min(h.wall().UnixMilli(), time.Now().Add(h.process.offset).UnixMilli())
	for _, x := range m.messages {
		if x.arrival || x.state == StateSending || x.hold == holdNone || x.hold == holdPlanned && x.readyAt <= now {
			r := m.recipient(x.address)
			h.wrong("after the calm message %d to %s (%s) is still %s: hold %d, ready at %d (now %d), gate %d, doubt %d, turn %d; sender %s, trouble %q",
				x.id, x.recipient, x.address, x.state, x.hold, x.readyAt, now, r.gate, r.doubt, r.turnAt, m.status, h.process.d.Trouble())
		}
	}
	if d := h.process.d; h.t.Failed() {
		h.t.Logf("the process: its time %s, wall %s, known %v, breaker %+v, canary %+v, guard %+v, signs %+v, waits %+v, greeting %+v, gate %v, calls %d, unsaved %d, next %v, trouble %q",
			d.clock.Now(), h.wall(), d.clock.Known(), d.machine.breaker, d.machine.canary, d.machine.guard, d.machine.signs, d.machine.waits,
			d.machine.greeting, d.machine.gate, len(d.calls), len(d.unsaved), d.next, d.Trouble())
	}
	if len(m.tasks) > 0 {
		h.wrong("after the calm there are tasks: %s", strings.Join(m.tasks, "; "))
	}
}

// forget drops what is known of messages that are not there any more, and what has ended.
func (h *history) forget() {
	alive := map[int64]bool{}
	h.must(h.db.Read(context.Background(), func(tx database.Tx) error {
		return each(tx, func(row database.Row) error {
			var id int64
			err := row.Scan(&id)
			alive[id] = true
			return err
		}, `SELECT id FROM outbox`)
	}))
	h.channel.with(func() {
		for id := range h.channel.fates {
			if !alive[id] {
				delete(h.channel.fates, id)
			}
		}
		for line, ids := range h.plain {
			for id := range ids {
				if !alive[id] {
					delete(ids, id)
				}
			}
			if len(ids) == 0 {
				delete(h.plain, line)
			}
		}
	})
}

// lineName names the line of a recipient and a rank.
func lineName(recipient string, rank int) string { return fmt.Sprint(recipient, " rank ", rank) }
