package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// chatView is a chat on the wire.
type chatView struct {
	ChatID     int64           `json:"chatId"`
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	State      ChatState       `json:"state"`
	MigratedTo int64           `json:"migratedTo,omitempty"`
	Delivered  int             `json:"delivered"`          // messages of bots so far
	Keyboard   json.RawMessage `json:"keyboard,omitempty"` // in place of the customer's own
	Profile    Profile         `json:"profile"`
	Changed    uint64          `json:"changed"` // grows with each line and edit
	Last       *lineView       `json:"last,omitempty"`
}

func (c *chat) view() chatView {
	view := chatView{
		ChatID: c.id, Type: c.kind(), Name: c.object().name(), State: c.state, MigratedTo: c.migratedTo,
		Delivered: c.delivered, Changed: c.changed, Keyboard: c.keyboard, Profile: c.profile,
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

// pathChat reads the chat id in the path.
func pathChat(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("%q is no chat id", r.PathValue("id"))
	}
	return id, nil
}
