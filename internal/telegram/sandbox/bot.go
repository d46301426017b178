package sandbox

import (
	"container/list"
	"slices"
	"strconv"
)

// bot is one bot that has called; world.mu guards it.
type bot struct {
	id      int64
	world   *world
	limiter *limiter

	updates    []update
	nextUpdate int64 // the id of the next update

	allowed []string       // kinds of updates; nil means all
	arrived chan struct{}  // closed and replaced when an update comes
	poll    chan *apiError // ends the getUpdates call that waits; nil without one
	webhook *webhook       // nil without one
	order   *list.Element

	commands  map[string][]botCommandObject // by scope and language
	profile   map[string]string             // texts about the bot, by field and language
	menus     map[string]menuButton         // by chat
	loggedOut bool
}

// bot returns the bot with an id. The first one to call gets the updates that
// came before it.
func (w *world) bot(id int64) *bot {
	b, known := w.bots[id]
	if !known {
		b = &bot{
			id:         id,
			world:      w,
			limiter:    newLimiter(w.options.StrictPenalty),
			nextUpdate: w.firstUpdate,
			arrived:    make(chan struct{}),
			commands:   map[string][]botCommandObject{},
			profile:    map[string]string{},
			menus:      map[string]menuButton{},
		}
		w.bots[id] = b
		var old []*bot
		b.order, old = w.botOrder.add(b)
		for _, o := range old {
			w.forgetBot(o)
		}
		for _, deliver := range w.unclaimed {
			deliver(b)
		}
		w.unclaimed = nil
	}
	w.botOrder.use(b.order)
	return b
}

// user is the Bot API's User.
type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name,omitempty"`
	Username  string `json:"username,omitempty"`
	Language  string `json:"language_code,omitempty"`
}

// user is how the bot appears to others. Every bot has a name made of its id.
func (b *bot) user() user {
	id := strconv.FormatInt(b.id, 10)
	return user{ID: b.id, IsBot: true, FirstName: "Sandbox " + id, Username: "sandbox_" + id + "_bot"}
}

// allows tells whether the bot wants a kind of updates.
func (b *bot) allows(kind string) bool {
	return b.allowed == nil || slices.Contains(b.allowed, kind)
}
