package updates

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"time"

	"notifier/internal/telegram/syntax"
)

// members are those of a JSON object, each as it is written.
type members map[string]json.RawMessage

func object(raw []byte) members {
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// in is the member that is an object itself; nil when it is none.
func (m members) in(name string) members { return object(m[name]) }

// text is a member that is a string, else empty.
func (m members) text(name string) string {
	var s string
	_ = json.Unmarshal(m[name], &s)
	return s
}

// number is a member that is a whole number.
func (m members) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(m[name])), 10, 64)
	return n, err == nil
}

// flag is a member that is true.
func (m members) flag(name string) bool { return string(bytes.TrimSpace(m[name])) == "true" }

var idInside = regexp.MustCompile(`"update_id"\s*:\s*([0-9]{1,19})`)

// updateID finds the id of an update, if need be in what is no JSON. It is never negative: a
// negative offset would drop updates that nobody has seen.
func updateID(raw []byte) (int64, bool) {
	if id, ok := object(raw).number("update_id"); ok {
		return id, id >= 0
	}
	found := idInside.FindSubmatch(raw)
	if found == nil {
		return 0, false
	}
	id, err := strconv.ParseInt(string(found[1]), 10, 64)
	return id, err == nil
}

// read says what an update tells. username is the bot's name; empty when it is not known yet. The
// shapes are those of https://core.telegram.org/bots/api#update.
func read(raw []byte, username string) Event {
	update := object(raw)
	if update == nil {
		return Event{Kind: Unreadable}
	}
	for _, known := range []struct {
		name string
		read func(members, string) Event
	}{
		{"message", readMessage},
		{"my_chat_member", readMembership},
		{"callback_query", readPress},
	} {
		content, there := update[known.name]
		if !there || string(content) == "null" {
			continue
		}
		m := object(content)
		if m == nil {
			return Event{Kind: Unreadable}
		}
		return known.read(m, username)
	}
	return Event{Kind: Ignored}
}

// chatIn fills in where and when something happened, and to whom.
func chatIn(m members, who members) (Event, bool) {
	chat := m.in("chat")
	id, ok := chat.number("id")
	if !ok || !syntax.IsChatID(id) {
		return Event{Kind: Unreadable}, false
	}
	a := Event{Chat: id, Private: id > 0, Language: languageOf(who), At: date(m)}
	if kind := chat.text("type"); kind != "" {
		a.Private = kind == "private"
	}
	return a, true
}

var languageTag = regexp.MustCompile(`^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,3}$`)

func languageOf(who members) string {
	if tag := who.text("language_code"); languageTag.MatchString(tag) {
		return tag
	}
	return ""
}

// date is in seconds since 1970; an inaccessible message has the date 0.
func date(m members) time.Time {
	seconds, ok := m.number("date")
	if !ok || seconds <= 0 || seconds > 1<<38 { // beyond, milliseconds would overflow
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func readMessage(m members, username string) Event {
	a, ok := chatIn(m, m.in("from"))
	if !ok {
		return a
	}
	if to, ok := m.number("migrate_to_chat_id"); ok && syntax.IsChatID(to) {
		a.Kind, a.MovedTo = Moved, to
		return a
	}
	if from, ok := m.number("migrate_from_chat_id"); ok && syntax.IsChatID(from) {
		a.Kind, a.Chat, a.MovedTo = Moved, from, a.Chat
		return a
	}
	if byBot(m.in("from")) {
		return Event{Kind: Ignored}
	}
	c, ok := parseCommand(m.text("text"))
	if !ok || !c.isFor(username, a.Private) {
		a.Kind = Words
		return a
	}
	switch c.name {
	case "start":
		a.Kind, a.Token = Start, c.argument
	case "help":
		a.Kind = Help
	case "orders":
		a.Kind = Orders
	case "stop":
		a.Kind = Stop
	default:
		a.Kind = Words
	}
	return a
}

// groupAnonymousBot stands for an administrator of a group who stays anonymous
// (https://core.telegram.org/bots/api#message, from).
const groupAnonymousBot = 1087968824

// byBot says that no person has written: two bots that answer each other would never end.
func byBot(from members) bool {
	id, _ := from.number("id")
	return from.flag("is_bot") && id != groupAnonymousBot
}

// readMembership reads what has become of the bot in a chat. In private chats it comes for a block
// and its end only; "kicked" also says that the person has deleted the chat.
func readMembership(m members, _ string) Event {
	a, ok := chatIn(m, m.in("from"))
	if !ok {
		return a
	}
	member := m.in("new_chat_member")
	switch member.text("status") {
	case "kicked", "left":
		a.Kind = Left
		if a.Private {
			a.Kind = Blocked
		}
	case "member", "administrator", "creator":
		a.Kind = Joined
		if a.Private {
			a.Kind = Unblocked
		}
	case "restricted":
		// Without the right to write nothing is known that a call would not tell better.
		switch {
		case !member.flag("is_member"):
			a.Kind = Left
		case member.flag("can_send_messages"):
			a.Kind = Joined
		default:
			a.Kind = Ignored
		}
	default:
		a.Kind = Ignored
	}
	return a
}

// readPress reads a pressed button. One below a message that was sent elsewhere has no chat; it is
// answered and means nothing more.
func readPress(m members, _ string) Event {
	a, ok := chatIn(m.in("message"), m.in("from"))
	if !ok {
		a = Event{}
	}
	a.Kind, a.callback = Press, m.text("id")
	if a.Chat == 0 {
		a.Kind = Ignored
	}
	return a
}
