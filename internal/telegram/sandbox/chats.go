package sandbox

import (
	"cmp"
	"container/list"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ChatState is what a chat answers to a bot that writes to it.
type ChatState string

// The states of a chat.
const (
	ChatUnknown     ChatState = "unknown"     // 400 chat not found
	ChatOpen        ChatState = "open"        // takes messages
	ChatBlocked     ChatState = "blocked"     // 403 bot was blocked by the user
	ChatDeactivated ChatState = "deactivated" // 403 user is deactivated, or the group chat was deleted
	ChatKicked      ChatState = "kicked"      // 403 bot was kicked from the … chat
	ChatRestricted  ChatState = "restricted"  // 400 not enough rights …
	ChatMigrated    ChatState = "migrated"    // 400 with migrate_to_chat_id
)

// chat is one private chat or group.
type chat struct {
	id         int64
	state      ChatState
	migratedTo int64
	lines      []line
	profile    Profile
	keyboard   json.RawMessage // in place of the customer's own; nil without one
	delivered  int             // messages of bots so far
	changed    uint64          // world.changes when the latest line was added
	order      *list.Element
	topics     map[int64]*topic // nil if it is no forum
	pinned     int64            // the message that is pinned; zero without one
}

func (c *chat) isGroup() bool { return c.id < 0 }
func (c *chat) isSupergroup() bool {
	return strings.HasPrefix(strconv.FormatInt(c.id, 10), "-100") && c.id < -1_000_000_000
}

// kind is the chat type as the Bot API names it.
func (c *chat) kind() string {
	switch {
	case c.isSupergroup():
		return "supergroup"
	case c.isGroup():
		return "group"
	default:
		return "private"
	}
}

// chatObject is the Bot API's Chat.
type chatObject struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
	Username  string `json:"username,omitempty"`
	Title     string `json:"title,omitempty"`
	Type      string `json:"type"`
}

func (c *chat) object() chatObject {
	object := chatObject{ID: c.id, Type: c.kind()}
	if c.isGroup() {
		object.Title = cmp.Or(c.profile.FirstName, fmt.Sprintf("Group %d", -c.id))
	} else {
		object.FirstName = cmp.Or(c.profile.FirstName, customerName(c.id))
		object.LastName, object.Username = c.profile.LastName, c.profile.Username
	}
	return object
}

// name is how the page calls the chat.
func (o chatObject) name() string {
	return strings.TrimSpace(o.FirstName + o.Title + " " + o.LastName) // it has a first name or a title
}

// chat returns the chat with an id, making it in the state of a chat that
// nobody has touched.
func (w *world) chat(id int64) *chat {
	c, known := w.chats[id]
	if !known {
		c = &chat{id: id, state: ChatOpen}
		if w.options.StrictChats {
			c.state = ChatUnknown
		}
		w.chats[id] = c
		var old []*chat
		c.order, old = w.chatOrder.add(c)
		for _, o := range old {
			w.forgotten.Chats++
			w.topics -= len(o.topics)
			delete(w.chats, o.id)
		}
	}
	return c
}

// access checks that a bot may do something in a chat. The words for a
// restricted chat depend on what it wants to do.
func (c *chat) access(restricted string) *apiError {
	switch c.state {
	case ChatOpen:
		return nil
	case ChatBlocked:
		return forbidden("bot was blocked by the user")
	case ChatDeactivated:
		if c.isGroup() {
			return forbidden("the group chat was deleted")
		}
		return forbidden("user is deactivated")
	case ChatKicked:
		return forbidden(fmt.Sprintf("bot was kicked from the %s chat", c.groupWord()))
	case ChatRestricted:
		return badRequest("%s", restricted)
	case ChatMigrated:
		migrated := badRequest("group chat was upgraded to a supergroup chat")
		migrated.migrateTo = c.migratedTo
		return migrated
	default:
		return badRequest("chat not found")
	}
}

func (c *chat) groupWord() string {
	if c.isSupergroup() {
		return "supergroup"
	}
	return "group"
}

// customerName is the name of every customer without one of their own.
func customerName(id int64) string { return fmt.Sprintf("Customer %d", id) }

// chatParameter reads chat_id.
func (p params) chatParameter() (int64, *apiError) { return parseChatID(p.values["chat_id"]) }

// parseChatID reads a chat id, a number with or without anything after it, as
// the real server does. Usernames are those of chats the sandbox does not have.
func parseChatID(text string) (int64, *apiError) {
	if text == "" {
		return 0, badRequest("chat_id is empty")
	}
	if id := looseInteger(text); id != 0 {
		return id, nil
	}
	return 0, badRequest("chat not found")
}
