package sandbox

import "time"

// limiter decides when the messages of one bot may be delivered. It is pure:
// every instant is passed in, so it can be tested with a clock of one's own.
type limiter struct {
	penalize bool
	bot      window
	chats    map[int64]*chatLimiter
	tidyAt   int // how many chats make it look for those that are done
}

// chatLimiter is the part of a limiter that belongs to one chat. What was
// announced to a chat counts for that chat alone, even where the reason was a
// wider limit: a client that was told to wait with one chat cannot know that the
// others have to, too.
type chatLimiter struct {
	rate   bucket
	minute window // groups only
	notes  map[string]*notes
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
	at         time.Time   // when the message is to be delivered, if it is not refused
	retryAfter int         // seconds to announce in a 429; zero means not refused
	violated   []violation // the announced waits that this call ignored
}

// decide grants a message to a chat a slot and reserves it, or refuses the
// message if the slot is farther away than limits.Hold. A call that is early by
// no more than limits.Tolerance is let through at once; its slot stays reserved,
// so that one who is early each time is refused in the end.
func (l *limiter) decide(limits Limits, chatID int64, c caller, now time.Time) grant {
	if len(l.chats) > l.tidyAt {
		l.tidy(limits, now)
		l.tidyAt = max(1000, 2*len(l.chats))
	}
	scopes := l.scopes(limits, chatID, now)
	violated := l.violations(scopes, limits.Tolerance, c, now)
	slot := earliestOf(scopes, now)
	wait := slot.Sub(now)
	if wait <= max(limits.Hold, limits.Tolerance) {
		for _, scope := range scopes {
			scope.add(slot)
		}
		if wait <= limits.Tolerance {
			slot = now
		}
		return grant{at: slot, violated: violated}
	}
	seconds := int(wholeSeconds(wait) / time.Second)
	// The chat was told to wait so long, whatever the reason; a wider scope only
	// asks for its own share.
	for _, scope := range scopes {
		if own := scope.earliest(now).Sub(now); own > 0 && scope.name != scopeChat {
			scope.notes.add(c, now, now.Add(wholeSeconds(own)))
		}
	}
	l.announce(chatID, c, now, time.Duration(seconds)*time.Second)
	return grant{retryAfter: seconds, violated: violated}
}

// wholeSeconds rounds a wait up.
func wholeSeconds(wait time.Duration) time.Duration {
	return (wait + time.Second - 1).Truncate(time.Second)
}

// announce notes that a caller is told to wait with a chat.
func (l *limiter) announce(chatID int64, c caller, now time.Time, wait time.Duration) {
	l.chat(chatID).notesOf(scopeChat).add(c, now, now.Add(wait))
}

// violations lists the announced waits that a call ignores.
func (l *limiter) violations(scopes []scope, tolerance time.Duration, c caller, now time.Time) []violation {
	var list []violation
	for _, scope := range scopes {
		note, ignored := scope.notes.ignoredBy(c, now.Add(tolerance))
		if !ignored {
			continue
		}
		list = append(list, violation{scope: scope.name, note: note, early: note.until.Sub(now), sameConnection: c.follows(note)})
		if l.penalize {
			scope.notes.lengthen(note, now)
		}
	}
	return list
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

func (c *chatLimiter) notesOf(scope string) *notes {
	if c.notes == nil {
		c.notes = map[string]*notes{}
	}
	n, known := c.notes[scope]
	if !known {
		n = &notes{}
		c.notes[scope] = n
	}
	return n
}

// The names of the scopes.
const (
	scopeChat  = "chat"
	scopeBot   = "bot"
	scopeGroup = "group"
)

// scope is one limit as it applies to one message.
type scope struct {
	name     string
	notes    *notes
	earliest func(time.Time) time.Time
	add      func(time.Time)
}

// scopes lists the limits that a message to a chat is under.
func (l *limiter) scopes(limits Limits, chatID int64, now time.Time) []scope {
	c := l.chat(chatID)
	interval, burst := limits.chatInterval(), max(1, limits.ChatBurst)
	list := []scope{
		{
			name:     scopeChat,
			earliest: func(t time.Time) time.Time { return c.rate.earliest(t, interval, burst) },
			add:      func(t time.Time) { c.rate.add(t, interval) },
		},
		windowScope(scopeBot, &l.bot, limits.BotPerSecond, now),
	}
	if chatID < 0 {
		list = append(list, windowScope(scopeGroup, &c.minute, limits.GroupPerMinute, now))
	}
	for i := range list {
		list[i].notes = c.notesOf(list[i].name)
		list[i].earliest = list[i].notes.afterPenalty(list[i].earliest)
	}
	return list
}

func windowScope(name string, w *window, most int, now time.Time) scope {
	w.prune(now)
	return scope{
		name:     name,
		earliest: func(t time.Time) time.Time { return w.earliest(t, most) },
		add:      w.add,
	}
}
