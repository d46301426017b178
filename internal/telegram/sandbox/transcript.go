package sandbox

import (
	"encoding/json"
	"time"
)

// maxLines is how much of a chat the page shows.
const maxLines = 200

// author tells who stands behind a line of a chat.
type author string

const (
	authorBot      author = "bot"
	authorCustomer author = "customer"
	authorNotice   author = "notice" // what happened, said by nobody
)

// line is one line of a chat as the page shows it.
type line struct {
	author   author
	id       int64 // message_id; zero for a notice
	text     string
	entities []entity
	at       time.Time
	message  *Message // a bot's message, which may be edited later
}

// lineView is a line on the wire.
type lineView struct {
	Author      author          `json:"author"`
	MessageID   int64           `json:"messageId,omitempty"`
	Kind        MessageKind     `json:"kind,omitempty"`
	FileName    string          `json:"fileName,omitempty"`
	Text        string          `json:"text"`
	Entities    []entity        `json:"entities,omitempty"`
	ReplyMarkup json.RawMessage `json:"replyMarkup,omitempty"`
	At          time.Time       `json:"at"`
	EditedAt    time.Time       `json:"editedAt,omitzero"`
}

func (l line) view() lineView {
	view := lineView{Author: l.author, MessageID: l.id, Text: l.text, Entities: l.entities, At: l.at}
	if m := l.message; m != nil {
		view.Kind, view.Text, view.Entities = m.Kind, m.VisibleText, m.entities
		view.ReplyMarkup, view.EditedAt = m.ReplyMarkup, m.EditedAt
		if m.file != nil {
			view.FileName = m.file.name
		}
	}
	return view
}

// show adds a line to a chat; w.mu is held.
func (w *world) show(c *chat, l line) {
	l.at = time.Now()
	if len(c.lines) >= maxLines {
		c.lines = append(c.lines[:0], c.lines[len(c.lines)-maxLines+1:]...)
	}
	c.lines = append(c.lines, l)
	w.touch(c)
}

// touch notes that there is something new to see in a chat; w.mu is held.
func (w *world) touch(c *chat) {
	w.changes++
	c.changed = w.changes
	w.wake()
}

// notice adds a line that nobody said; w.mu is held.
func (w *world) notice(c *chat, text string) { w.show(c, line{author: authorNotice, text: text}) }

// noticeOf is what a turn from one state to another looks like in the chat.
func noticeOf(before, state ChatState) string {
	switch state {
	case ChatBlocked:
		return "The customer blocked the bot."
	case ChatDeactivated:
		return "The account was deleted."
	case ChatKicked:
		return "The bot was removed."
	case ChatRestricted:
		return "The bot may not write any more."
	}
	switch before {
	case ChatBlocked:
		return "The customer unblocked the bot."
	case ChatKicked:
		return "The bot was taken back."
	default:
		return "The bot may write again."
	}
}
