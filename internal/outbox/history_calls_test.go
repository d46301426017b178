package outbox

import (
	"context"
	"time"

	"notifier/internal/database"
)

// begun notes that a process begins. What the last one had not stored is gone: unstored gates, and
// whatever became of the calls it left open, which count as failures.
func (u *unruly) begun(p *process) {
	stored, open := u.h.stored()
	offset := time.Duration(u.h.offset.Load())
	u.mu.Lock()
	defer u.mu.Unlock()
	for address, gate := range u.gates {
		if last := u.current; last == nil || last.offset != offset || stored[address].Before(gate.Add(last.offset-time.Millisecond)) {
			delete(u.gates, address)
		}
	}
	for _, id := range open {
		u.fate(id).excused++
	}
	u.current, p.offset = p, offset
	u.flying[p], u.ends[p] = map[string]int64{}, map[string]time.Time{}
}

// stored are the gates that are stored, and the messages of open attempts.
func (h *history) stored() (gates map[string]time.Time, open []int64) {
	gates = map[string]time.Time{}
	h.must(h.other.Read(context.Background(), func(tx database.Tx) error {
		err := each(tx, func(row database.Row) error {
			var address string
			var until int64
			err := row.Scan(&address, &until)
			gates[address] = time.UnixMilli(until)
			return err
		}, `SELECT address, gate_until FROM notifier_recipients WHERE gate_until IS NOT NULL`)
		if err != nil {
			return err
		}
		return each(tx, func(row database.Row) error {
			var id int64
			err := row.Scan(&id)
			open = append(open, id)
			return err
		}, `SELECT message_id FROM notifier_attempts WHERE result = 'open'`)
	}))
	return gates, open
}

// checkCall checks whether this call may be made.
func (l *line) checkCall(address string, s scripted) {
	u, h, now := l.u, l.u.h, time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	f := u.fate(s.id)
	if other, ok := u.flying[l.p][address]; ok {
		h.wrong("messages %d and %d are called for at once to %s", other, s.id, address)
	}
	u.flying[l.p][address] = s.id
	if last, ok := u.ends[l.p][address]; ok && now.Sub(last) < time.Second {
		h.wrong("message %d goes to %s %v after the last call", s.id, address, now.Sub(last))
	}
	if gate := u.gates[address]; gate.After(now) {
		h.wrong("message %d goes to %s, which is gated for %v more", s.id, address, gate.Sub(now))
	}
	switch {
	case f.sent:
		h.wrong("message %d was sent and goes again", s.id)
	case f.maybe >= 2, f.maybe == 1 && f.hold:
		h.wrong("message %d goes although the channel may have it %d times", s.id, f.maybe)
	case f.maybe == 1 && f.offset >= l.p.offset && now.Sub(f.maybeAt) < 30*time.Second:
		h.wrong("message %d goes again %v after the channel may have taken it", s.id, now.Sub(f.maybeAt))
	case f.maybe == 1 && !u.sign.After(f.maybeAt):
		h.wrong("message %d goes again without a sign of life", s.id)
	}
	if u.current == l.p {
		h.must(h.db.Read(context.Background(), func(tx database.Tx) error { return h.checkGranted(tx, address, s.id) }))
	}
}
