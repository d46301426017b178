package sandbox

import "time"

// limiter decides when the messages of one bot may be delivered. It is pure:
// every instant is passed in, so it can be tested with a clock of one's own.
type limiter struct {
	penalize bool
	bot      window
	botNote  announcement
	chats    map[int64]*chatLimiter
}

// chatLimiter is the part of a limiter that belongs to one chat.
type chatLimiter struct {
	rate       bucket
	rateNote   announcement
	minute     window // groups only
	minuteNote announcement
}

func newLimiter(penalize bool) *limiter {
	return &limiter{
		penalize: penalize,
		bot:      window{span: time.Second},
		chats:    map[int64]*chatLimiter{},
	}
}

// grant is the limiter's answer about one message.
type grant struct {
	at         time.Time // when the message is to be delivered, if it is not refused
	retryAfter int       // seconds to announce in a 429; zero means not refused
	violated   []string  // the scopes whose announced wait this call ignored
}

// decide grants a message to a chat a slot and reserves it, or refuses the
// message if the slot is farther away than limits.Hold.
func (l *limiter) decide(limits Limits, chatID int64, order callOrder, now time.Time) grant {
	scopes := l.scopes(limits, chatID, now)
	violated := l.violations(scopes, order, now)
	slot := earliestOf(scopes, now)
	wait := slot.Sub(now)
	if wait <= limits.Hold {
		for _, scope := range scopes {
			scope.add(slot)
		}
		return grant{at: slot, violated: violated}
	}
	// The chat was told to wait so long, whatever the reason; a wider scope only
	// asks for its own share.
	for _, scope := range scopes {
		if own := scope.earliest(now).Sub(now); own > 0 {
			scope.note.announce(order, now.Add(wholeSeconds(own)))
		}
	}
	l.announce(chatID, order, now.Add(wholeSeconds(wait)))
	return grant{retryAfter: int(wholeSeconds(wait) / time.Second), violated: violated}
}

// wholeSeconds rounds a wait up.
func wholeSeconds(wait time.Duration) time.Duration {
	return (wait + time.Second - 1).Truncate(time.Second)
}

// announce notes a wait that was announced for a chat by other means than
// decide.
func (l *limiter) announce(chatID int64, order callOrder, until time.Time) {
	l.chat(chatID).rateNote.announce(order, until)
}

// violations names the scopes whose wait had been announced when the call was
// received and has not passed.
func (l *limiter) violations(scopes []scope, order callOrder, now time.Time) []string {
	var names []string
	for _, scope := range scopes {
		if !scope.note.ignoredBy(order, now) {
			continue
		}
		names = append(names, scope.name)
		if l.penalize {
			scope.note.lengthen(now)
		}
	}
	return names
}

// earliestOf is the first instant, not before t, that suits every scope. Each
// scope only moves it forward, so it settles.
func earliestOf(scopes []scope, t time.Time) time.Time {
	for {
		next := t
		for _, scope := range scopes {
			next = scope.earliest(next)
		}
		if next.Equal(t) {
			return t
		}
		t = next
	}
}

func (l *limiter) chat(id int64) *chatLimiter {
	c, known := l.chats[id]
	if !known {
		c = &chatLimiter{minute: window{span: time.Minute}}
		l.chats[id] = c
	}
	return c
}

// scope is one limit as it applies to one message.
type scope struct {
	name     string
	note     *announcement
	earliest func(time.Time) time.Time
	add      func(time.Time)
}

// scopes lists the limits that a message to a chat is under.
func (l *limiter) scopes(limits Limits, chatID int64, now time.Time) []scope {
	c := l.chat(chatID)
	interval, burst := limits.chatInterval(), max(1, limits.ChatBurst)
	list := []scope{
		{
			name:     "chat",
			note:     &c.rateNote,
			earliest: func(t time.Time) time.Time { return c.rate.earliest(t, interval, burst) },
			add:      func(t time.Time) { c.rate.add(t, interval) },
		},
		windowScope("bot", &l.bot, &l.botNote, limits.BotPerSecond, now),
	}
	if chatID < 0 {
		list = append(list, windowScope("group", &c.minute, &c.minuteNote, limits.GroupPerMinute, now))
	}
	for i := range list {
		list[i].earliest = list[i].note.afterPenalty(list[i].earliest)
	}
	return list
}

func windowScope(name string, w *window, note *announcement, most int, now time.Time) scope {
	w.prune(now)
	return scope{
		name:     name,
		note:     note,
		earliest: func(t time.Time) time.Time { return w.earliest(t, most) },
		add:      w.add,
	}
}

// callOrder places a call among the others. Instants would not do: a call that
// is answered and the next one may share theirs.
type callOrder struct {
	call   uint64 // this call, counted in the order of receipt
	latest uint64 // the call received last, while this one is decided
}

// announcement remembers the wait that a 429 announced for a scope.
type announcement struct {
	latest  uint64    // the call received last when it was announced
	until   time.Time // when the wait passes
	penalty time.Time // with StrictPenalty: nothing is granted before
}

// maxPenalty is where lengthening stops.
const maxPenalty = time.Hour

func (a *announcement) announce(order callOrder, until time.Time) {
	if until.After(a.until) {
		a.latest, a.until = order.latest, until
	}
}

// ignoredBy tells whether a call that counts at now was made in spite of the
// wait. One that was on its way when the wait was announced was not.
func (a *announcement) ignoredBy(order callOrder, now time.Time) bool {
	return order.call > a.latest && now.Before(a.until)
}

// lengthen doubles what is left of the wait.
func (a *announcement) lengthen(now time.Time) {
	a.until = now.Add(min(2*a.until.Sub(now), maxPenalty))
	a.penalty = a.until
}

func (a *announcement) afterPenalty(earliest func(time.Time) time.Time) func(time.Time) time.Time {
	return func(t time.Time) time.Time { return earliest(later(t, a.penalty)) }
}
