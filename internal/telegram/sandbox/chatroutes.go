package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// chatView is a chat on the wire.
type chatView struct {
	ChatID     int64     `json:"chatId"`
	Type       string    `json:"type"`
	Name       string    `json:"name"`
	State      ChatState `json:"state"`
	MigratedTo int64     `json:"migratedTo,omitempty"`
	Last       *lineView `json:"last,omitempty"`

	changed uint64
}

func (c *chat) view() chatView {
	object := c.object()
	view := chatView{
		ChatID: c.id, Type: c.kind(), Name: object.FirstName + object.Title,
		State: c.state, MigratedTo: c.migratedTo, changed: c.changed,
	}
	if n := len(c.lines); n > 0 {
		last := c.lines[n-1].view()
		view.Last = &last
	}
	return view
}

func (s *Sandbox) chatView(chatID int64) chatView {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.chat(chatID).view()
}

// maxChatsShown is how many chats the list has, the latest changed first.
const maxChatsShown = 200

// showChats lists the chats in which something has happened. With after=<the
// version of an earlier answer> and wait it answers as soon as something has
// changed, or in the end.
func (s *Sandbox) showChats(rw http.ResponseWriter, r *http.Request) {
	version, ok := s.waitForChange(rw, r)
	if !ok {
		return
	}
	w := s.current()
	w.mu.Lock()
	views := []chatView{}
	for _, c := range w.chats {
		if c.changed > 0 {
			views = append(views, c.view())
		}
	}
	w.mu.Unlock()
	slices.SortFunc(views, func(a, b chatView) int { return cmp.Compare(b.changed, a.changed) })
	show(rw, http.StatusOK, struct {
		Version string     `json:"version"`
		Chats   []chatView `json:"chats"`
	}{version, views[:min(len(views), maxChatsShown)]})
}

// showChat gives the latest lines of one chat, oldest first.
func (s *Sandbox) showChat(rw http.ResponseWriter, r *http.Request) {
	chatID, err := pathChat(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	w := s.current()
	w.mu.Lock()
	c := w.chat(chatID)
	answer := struct {
		chatView
		Lines []lineView `json:"lines"`
	}{c.view(), []lineView{}}
	for _, l := range c.lines {
		answer.Lines = append(answer.Lines, l.view())
	}
	w.mu.Unlock()
	show(rw, http.StatusOK, answer)
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
func (w *world) version() string {
	return fmt.Sprintf("%d-%d", w.began.UnixNano(), w.changes)
}

// pathChat reads the chat id in the path.
func pathChat(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("%q is no chat id", r.PathValue("id"))
	}
	return id, nil
}
