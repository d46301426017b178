package sandbox

import (
	"cmp"
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
	Version  string          `json:"version"` // names this picture for the next request's after
	World    string          `json:"world"`   // differs after a reset
	Now      time.Time       `json:"now"`
	Stats    Stats           `json:"stats"`
	Limits   Limits          `json:"limits"`
	Faults   []ActiveFault   `json:"faults"`
	Bots     int             `json:"bots"` // that have called
	Traffic  []trafficSecond `json:"traffic"`
	Refusals []refusalView   `json:"refusals"` // the latest 429s, oldest first
	Chats    []chatView      `json:"chats"`    // the latest changed first
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
	version, ok := s.waitForChange(rw, r)
	if !ok {
		return
	}
	w := s.current()
	w.mu.Lock()
	view := overview{
		Version: version, World: w.name(), Now: time.Now(), Stats: w.stats, Limits: w.limits,
		Faults: w.activeFaults(), Bots: len(w.bots),
		Traffic: w.traffic.since(time.Now()), Refusals: w.traffic.refusalViews(),
		Chats: w.chatViews(r.FormValue("q")),
	}
	w.mu.Unlock()
	show(rw, http.StatusOK, view)
}

// chatViews lists the chats in which something has happened, with their last
// line or, when a text is searched for, the last one that contains it; w.mu is
// held.
func (w *world) chatViews(search string) []chatView {
	search = strings.ToLower(strings.TrimSpace(search))
	type match struct {
		*chat
		line int // the index of the line that contains the text, -1 if none does
	}
	var found []match
	for _, c := range w.chats {
		if c.changed == 0 {
			continue
		}
		if i := c.lastLineWith(search); i >= 0 || c.isCalled(search) {
			found = append(found, match{c, i})
		}
	}
	slices.SortFunc(found, func(a, b match) int { return cmp.Compare(b.changed, a.changed) })
	views := []chatView{}
	for _, m := range found[:min(len(found), maxChatsShown)] {
		view := m.chat.view()
		if m.line >= 0 {
			line := m.lines[m.line].view()
			view.Last = &line
		}
		views = append(views, view)
	}
	return views
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

func (t *traffic) refusalViews() []refusalView {
	list := []refusalView{}
	for _, c := range t.refusals {
		list = append(list, refusalView{
			CallID: c.CallID, At: c.AnsweredAt, Method: c.Method, ChatID: c.ChatID, FaultID: c.FaultID,
			Wait: answer{status: c.Status}.summary(c),
		})
	}
	return list
}

// waitForChange waits, as the request asks, until something has happened since
// the version it names, and returns the version now. An error has been answered
// when it is false.
func (s *Sandbox) waitForChange(rw http.ResponseWriter, r *http.Request) (version string, ok bool) {
	wait, err := queryWait(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return "", false
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	for {
		w := s.current()
		w.mu.Lock()
		version, changed := w.version(), w.changed
		w.mu.Unlock()
		if version != r.FormValue("after") {
			return version, true
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			if ctx.Err() != nil || s.current() == w { // the end, not a reset
				return version, true
			}
		case <-ctx.Done():
			return version, true
		}
	}
}

// version names what there is to see. It differs from one world to the next.
func (w *world) version() string { return fmt.Sprintf("%s-%d", w.name(), w.changes) }

func (w *world) name() string { return strconv.FormatInt(w.began.UnixNano(), 10) }
