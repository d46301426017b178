package outbox

import (
	"strings"
	"time"
)

// The age limit: a message that the writer gave an expiresAt ends then. Any other ends TTL after
// the latest of its creation, its notBefore, its link and a person's retry, not counting the time
// that a person had paused the sender; without a link, UnlinkedTTL after its creation.

// pause is a time during which a person had paused the sender; to is zero while it lasts.
type pause struct{ from, to time.Time }

type pauses []pause

// expiry is when m ends, as far as is known now: a pause that has not ended moves it on.
func (p Policy) expiry(m Message, ps pauses, now time.Time) time.Time {
	if !m.ExpiresAt.IsZero() {
		return m.ExpiresAt
	}
	from, ttl := latest(m.CreatedAt, m.NotBefore, m.ageFrom), p.TTL
	if m.Address == "" && strings.HasPrefix(m.Recipient, AliasPrefix) {
		ttl = p.UnlinkedTTL
	}
	return ps.after(from, ttl, now)
}

// after is the instant at which ttl has passed since from, pauses not counted. Pauses are in
// the order of their beginnings and do not overlap.
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

func latest(times ...time.Time) time.Time {
	var l time.Time
	for _, t := range times {
		if t.After(l) {
			l = t
		}
	}
	return l
}
