package outbox

import "time"

// The age limit: a message that the writer gave an expiresAt ends then. Any other ends TTL after
// the latest of its creation, its notBefore, its link and a person's retry, not counting the time
// that a person had paused the sender; without a link, UnlinkedTTL after its creation.

// pause is a time during which a person had paused the sender; to is zero while it lasts.
type pause struct{ from, to time.Time }

// pauses are in the order of their beginnings and do not overlap.
type pauses []pause

// ttl is how old a message with this hold may become.
func (p Policy) ttl(hold int) time.Duration {
	if hold == holdNoChat {
		return p.UnlinkedTTL
	}
	return p.TTL
}

// expiry is when m ends, as far as is known now: a pause that has not ended moves it on.
func (p Policy) expiry(m Message, ps pauses, now time.Time) time.Time {
	if !m.ExpiresAt.IsZero() {
		return m.ExpiresAt
	}
	return ps.after(m.ageFrom, p.ttl(m.hold), now)
}

// after is the instant at which ttl has passed since from, pauses not counted.
func (ps pauses) after(from time.Time, ttl time.Duration, now time.Time) time.Time {
	end := from.Add(ttl)
	for _, p := range ps {
		to := p.to
		if to.IsZero() {
			to = now
		}
		begin := latest(p.from, from)
		if begin.Before(end) && to.After(begin) {
			end = end.Add(to.Sub(begin))
		}
	}
	return end
}

// before is the inverse of after: what counts its age from this instant or an earlier one has
// reached ttl by now. It walks back over the pauses, whose time does not count.
func (ps pauses) before(ttl time.Duration, now time.Time) time.Time {
	at, left := now, ttl
	for i := len(ps) - 1; i >= 0; i-- {
		to := ps[i].to
		if to.IsZero() || to.After(at) {
			to = at
		}
		if gap := at.Sub(to); gap >= left {
			break
		} else if gap > 0 {
			left -= gap
		}
		if ps[i].from.Before(at) {
			at = ps[i].from
		}
	}
	return at.Add(-left)
}
