package outbox

import (
	"slices"
	"time"
)

// guardLimit is how many chats in a row, refused after they had accepted before, are taken for a
// fault of ours or Telegram's rather than for customers who left.
const guardLimit = 5

// guardEvery is how often the guard lets one message try.
const guardEvery = time.Minute

// Guard protects the shop's chats from mass death. When five chats in a row that had accepted
// messages before are refused, with nothing accepted between, it takes the five back; then one
// message a minute goes, to each waiting chat in turn, and kills none, until one is accepted.
// A chat that was taken back once is not taken back again: refused again, it is dead.
type Guard struct {
	row    []string // the chats refused in a row
	active bool
	at     time.Time // when the next message may try
}

// clone returns a copy that shares nothing with g.
func (g Guard) clone() Guard {
	g.row = slices.Clone(g.row)
	return g
}

// Restore begins with the chats in a row that are on disk, or with the guard that still holds.
func (g *Guard) Restore(row []string, active bool, now time.Time) {
	g.active, g.at = active, now
	if !active {
		g.row = row
	}
}

// Refused takes the refusal of a chat. accepted says whether it had accepted a message before,
// spared whether it was taken back once: others say nothing here. back are the chats to take back.
func (g *Guard) Refused(address string, accepted, spared bool, now time.Time) (back []string) {
	if g.active || !accepted || spared || slices.Contains(g.row, address) {
		return nil
	}
	g.row = append(g.row, address)
	if len(g.row) < guardLimit {
		return nil
	}
	back = g.row
	g.row, g.active, g.at = nil, true, now.Add(guardEvery)
	return back
}

// Accepted ends the row, and the guard. ended says that it had held until now.
func (g *Guard) Accepted() (ended bool) {
	ended = g.active
	*g = Guard{}
	return ended
}

// Release ends the guard by a person's hand.
func (g *Guard) Release() { *g = Guard{} }

// Active says whether the guard holds: then nothing kills a chat.
func (g *Guard) Active() bool { return g.active }

// Next is when the next message may try, while the guard holds.
func (g *Guard) Next() time.Time { return g.at }

// Tried notes that a message tries now.
func (g *Guard) Tried(now time.Time) { g.at = now.Add(guardEvery) }
