package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"notifier/internal/telegram/sandbox/markup"
)

// maxLines is how much of a chat the page shows.
const maxLines = 200

// author tells who stands behind a line of a chat.
type author string

const (
	authorBot      author = "bot"
	authorCustomer author = "customer"
	authorNotice   author = "notice"  // what happened, said by nobody
	authorFailure  author = "failure" // a call that was refused or whose answer was lost
)

// line is one line of a chat as the page shows it.
type line struct {
	key      uint64 // in the order of appearance
	author   author
	id       int64 // message_id; zero for a notice
	text     string
	entities []markup.Entity
	at       time.Time
	message  *Message       // a bot's message, which may be edited later
	incoming *messageObject // a customer's message as the bots got it
	failed   failedCall     // of a failure, its latest call
	times    int            // how often in a row the failure happened
}

// failedCall is what a line remembers of a call.
type failedCall struct {
	botID  int64
	callID uint64
	status int // zero if the answer was lost
}

func (c *Call) failed() failedCall {
	f := failedCall{botID: c.BotID, callID: c.CallID}
	if c.Outcome == OutcomeAnswered {
		f.status = c.Status
	}
	return f
}

// lineView is a line on the wire.
type lineView struct {
	Key         uint64          `json:"key"`
	Author      author          `json:"author"`
	MessageID   int64           `json:"messageId,omitempty"`
	Kind        MessageKind     `json:"kind,omitempty"`
	FileName    string          `json:"fileName,omitempty"`
	Text        string          `json:"text"`
	Entities    []markup.Entity `json:"entities,omitempty"`
	ReplyTo     int64           `json:"replyTo,omitempty"` // the message it answers
	Quote       string          `json:"quote,omitempty"`   // of that message
	FileID      string          `json:"fileId,omitempty"`  // of a file that can be shown
	FileType    string          `json:"fileType,omitempty"`
	Content     json.RawMessage `json:"content,omitempty"` // the Bot API's object of a place, contact, poll …
	ReplyMarkup json.RawMessage `json:"replyMarkup,omitempty"`
	At          time.Time       `json:"at"`
	EditedAt    time.Time       `json:"editedAt,omitzero"`
	BotID       int64           `json:"botId,omitempty"`
	CallID      uint64          `json:"callId,omitempty"`     // the call behind it
	EditCallID  uint64          `json:"editCallId,omitempty"` // and that of the latest edit
	Status      int             `json:"status,omitempty"`     // of a failure; zero if the answer was lost
	Times       int             `json:"times,omitempty"`
}

func (l line) view() lineView {
	view := lineView{
		Key: l.key, Author: l.author, MessageID: l.id, Text: l.text, Entities: l.entities, At: l.at, Times: l.times,
	}
	if l.author == authorFailure {
		view.BotID, view.CallID, view.Status = l.failed.botID, l.failed.callID, l.failed.status
	}
	if l.incoming != nil {
		view.showIncoming(l.incoming)
	}
	if m := l.message; m != nil {
		view.Kind, view.Text, view.Entities = m.Kind, m.VisibleText, m.entities
		view.ReplyMarkup, view.EditedAt = m.ReplyMarkup, m.EditedAt
		view.BotID, view.CallID, view.EditCallID = m.BotID, m.sentBy, m.editedBy
		view.ReplyTo, view.Content = m.ReplyTo, m.media
		if m.reply != nil && m.reply.quote != nil {
			view.Quote = m.reply.quote.Text
		}
		if f := m.file; f != nil {
			view.FileName, view.Content = f.name, nil
			if f.content != nil && shownTypes.MatchString(f.mime) {
				view.FileID, view.FileType = f.id, f.mime
			}
		}
	}
	return view
}

// showIncoming shows what a customer's message has besides a text.
func (v *lineView) showIncoming(m *messageObject) {
	switch {
	case len(m.Photo) > 0:
		v.Kind, v.FileID, v.FileType = KindPhoto, m.Photo[0].FileID, "image/png"
	case m.Location != nil:
		v.Kind, v.Content = KindLocation, m.Location
	case m.Contact != nil:
		v.Kind, v.Content = KindContact, m.Contact
	}
}

// show adds a line to a chat; w.mu is held.
func (w *world) show(c *chat, l line) {
	w.lastLine++
	l.key, l.at = w.lastLine, w.clock.now()
	if len(c.lines) >= maxLines {
		c.lines = slices.Delete(c.lines, 0, len(c.lines)-maxLines+1)
	}
	c.lines = append(c.lines, l)
	if l.message == nil {
		size := 400 + len(l.text)
		if l.incoming != nil {
			size += 600
		}
		w.asides.add(aside{c.id, l.key}, size)
	}
	w.touch(c)
}

// touch notes that there is something new to see in a chat; w.mu is held.
func (w *world) touch(c *chat) {
	w.note()
	c.changed = w.changes
	w.chatOrder.use(c.order)
}

// notice adds a line that nobody said; w.mu is held.
func (w *world) notice(c *chat, text string) { w.show(c, line{author: authorNotice, text: text}) }

// showFailure adds a line about a call that was refused or lost its answer. The
// same again is counted in the line there is, so that a bot that insists does
// not push everything else out of sight. w.mu is held.
func (w *world) showFailure(call *Call, a answer) {
	c, text := w.chat(call.ChatID), call.Method+": "+a.summary(call)
	if n := len(c.lines); n > 0 && c.lines[n-1].author == authorFailure && c.lines[n-1].text == text {
		last := &c.lines[n-1]
		last.failed, last.at = call.failed(), w.clock.now()
		last.times++
		w.touch(c)
		return
	}
	w.show(c, line{author: authorFailure, text: text, failed: call.failed(), times: 1})
}

// summary says in one line how a call failed.
func (a answer) summary(call *Call) string {
	switch {
	case a.lost && a.invented:
		return "the connection was lost before anything was done"
	case a.lost && a.status == 0:
		return "the call was cut off"
	case a.lost && a.status == http.StatusOK:
		return "done, but its answer was lost"
	case a.lost:
		return fmt.Sprintf("answered %d, but the answer was lost", a.status)
	}
	var shape struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
	}
	switch err := json.Unmarshal(call.Answer, &shape); {
	case err == nil && shape.Description != "":
		return fmt.Sprintf("%d %s", a.status, shape.Description)
	case err == nil && shape.OK:
		return fmt.Sprintf("%d, though nothing was done", a.status)
	default:
		return fmt.Sprintf("%d with a body that is not the Bot API's", a.status)
	}
}

// noticeOf is what a turn from one state to another looks like in the chat.
func noticeOf(c *chat, before, state ChatState) string {
	switch state {
	case ChatBlocked:
		return "The customer blocked the bot."
	case ChatDeactivated:
		if c.isGroup() {
			return "The group was deleted."
		}
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
