package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// overview is all that the page shows, except the lines of the open chat.
type overview struct {
	Version   string          `json:"version"` // names this picture for the next request's after
	World     string          `json:"world"`   // differs after a reset
	Now       time.Time       `json:"now"`
	Stats     Stats           `json:"stats"`
	Limits    Limits          `json:"limits"`
	Faults    []ActiveFault   `json:"faults"`
	Bots      int             `json:"bots"`      // that have called
	Memory    int64           `json:"memory"`    // how many bytes all this may take
	Forgotten forgotten       `json:"forgotten"` // for want of room
	Traffic   []trafficSecond `json:"traffic"`
	Refusals  []refusalView   `json:"refusals"` // the latest 429s, oldest first
	Chats     []chatView      `json:"chats"`    // the latest changed first
}

// refusalView is one 429.
type refusalView struct {
	CallID  uint64    `json:"callId"`
	At      time.Time `json:"at"`
	Method  string    `json:"method"`
	ChatID  int64     `json:"chatId,omitempty"`
	FaultID int       `json:"faultId,omitempty"`
	Wait    string    `json:"wait"` // Telegram's words
}

// maxChatsShown is how many chats the list has.
const maxChatsShown = 200

// showOverview answers at once, or with after=<the version of an earlier
// answer> and wait as soon as something has changed. With q the chats are those
// whose name, id or lines contain it.
func (s *Sandbox) showOverview(rw http.ResponseWriter, r *http.Request) {
	if !s.waitForChange(rw, r) {
		return
	}
	search := strings.ToLower(strings.TrimSpace(r.FormValue("q")))
	if search == "" {
		body, _ := s.picture(r.FormValue("after"))
		showBody(rw, body)
		return
	}
	w := s.current()
	found := w.search(search)
	w.mu.Lock()
	view := w.overview()
	w.mu.Unlock()
	view.Chats = found
	show(rw, http.StatusOK, view)
}

// overview is what the page shows but for the chats; w.mu is held.
func (w *world) overview() overview {
	now := w.clock.now()
	return overview{
		Version: w.version(), World: w.name(), Now: now, Stats: w.stats, Limits: w.limits,
		Faults: w.activeFaults(), Bots: len(w.bots), Forgotten: w.forgotten, Memory: w.options.Memory,
		Traffic: w.traffic.since(now), Refusals: append([]refusalView{}, w.traffic.refusals...),
	}
}

// latestChats lists the chats in which something has happened, with their last
// line; w.mu is held.
func (w *world) latestChats() []chatView {
	views := []chatView{}
	for c := range w.chatOrder.all {
		if c.changed == 0 {
			continue
		}
		if views = append(views, c.view()); len(views) == maxChatsShown {
			break
		}
	}
	return views
}

// searchedAtOnce is in how many chats a search looks before it lets the calls
// go on.
const searchedAtOnce = 50

// search lists the latest chats whose name, id or lines contain a text in lower
// case, with the last line that does.
func (w *world) search(text string) []chatView {
	w.mu.Lock()
	all := make([]*chat, 0, len(w.chats))
	for c := range w.chatOrder.all {
		all = append(all, c)
	}
	w.mu.Unlock()
	views := []chatView{}
	for chats := range slices.Chunk(all, searchedAtOnce) {
		w.mu.Lock()
		for _, c := range chats {
			if view, found := c.find(text); found && c.changed != 0 && len(views) < maxChatsShown {
				views = append(views, view)
			}
		}
		w.mu.Unlock()
	}
	return views
}

// find looks for a text in lower case.
func (c *chat) find(text string) (view chatView, found bool) {
	i := c.lastLineWith(text)
	if i < 0 && !c.isCalled(text) {
		return view, false
	}
	view = c.view()
	if i >= 0 {
		line := c.lines[i].view()
		view.Last = &line
	}
	return view, true
}

// lastLineWith is the index of the last line that contains a text in lower case,
// -1 when there is none.
func (c *chat) lastLineWith(search string) int {
	for i := len(c.lines) - 1; i >= 0; i-- {
		text := c.lines[i].text
		if m := c.lines[i].message; m != nil {
			text = m.VisibleText
		}
		if strings.Contains(strings.ToLower(text), search) {
			return i
		}
	}
	return -1
}

// isCalled tells whether a text in lower case is part of a chat's id or name.
func (c *chat) isCalled(search string) bool {
	return strings.Contains(strconv.FormatInt(c.id, 10), search) ||
		strings.Contains(strings.ToLower(c.object().name()), search)
}

// waitForChange waits, as the request asks, until something has happened since
// the version it names, and a new picture of it may be made. An error has been
// answered when it is false.
func (s *Sandbox) waitForChange(rw http.ResponseWriter, r *http.Request) bool {
	wait, err := queryWait(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return false
	}
	known := r.FormValue("after")
	if known == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	s.gallery.watchers.Add(1)
	defer s.gallery.watchers.Add(-1)
	for {
		w := s.current()
		w.mu.Lock()
		version, changed := w.version(), w.changed
		w.mu.Unlock()
		if version != known {
			if strings.HasPrefix(known, w.name()) { // a reset is shown at once
				sleepUntil(ctx, time.Now().Add(s.untilPicture()))
			}
			return true
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			if ctx.Err() != nil || s.current() == w { // the end, not a reset
				return true
			}
		case <-ctx.Done():
			return true
		}
	}
}

// version names what there is to see. It differs from one world to the next.
func (w *world) version() string { return fmt.Sprintf("%s-%d", w.name(), w.changes) }

func (w *world) name() string { return strconv.FormatInt(w.began.UnixNano(), 10) }
