package sandbox

import (
	"strings"
	"unicode/utf8"
)

// topic is a forum topic of a supergroup. A supergroup is a forum from its first
// topic on.
type topic struct {
	name   string
	closed bool
}

// forumTopic is the Bot API's ForumTopic.
type forumTopic struct {
	ThreadID  int64  `json:"message_thread_id"`
	Name      string `json:"name"`
	IconColor int64  `json:"icon_color"`
}

// The bounds of topics.
const (
	maxTopicName     = 128
	maxTopics        = 10_000 // of all chats; Telegram's bound is not known
	defaultIconColor = 7322096
)

func createForumTopic(c *call) (any, *apiError) {
	name := strings.TrimSpace(c.params.values["name"])
	return c.inChat(func(chat *chat) (any, *apiError) {
		switch n := utf8.RuneCountInString(name); {
		case !chat.isSupergroup():
			return nil, badRequest("the chat is not a forum")
		case n == 0:
			return nil, badRequest("title must be non-empty")
		case n > maxTopicName, c.world.topics >= maxTopics:
			return nil, badRequest("TOPIC_TITLE_INVALID")
		}
		if chat.topics == nil {
			chat.topics = map[int64]*topic{}
		}
		c.world.lastMessage++ // a topic has the id of the message about it
		id := c.world.lastMessage
		chat.topics[id] = &topic{name: name}
		c.world.topics++
		c.world.notice(chat, "The bot made the topic "+name+".")
		color := c.params.integer("icon_color", defaultIconColor)
		return forumTopic{id, name, color}, nil
	})
}

// onTopic makes a method that changes a topic.
func onTopic(change func(*call, *chat, int64, *topic) *apiError) func(*call) (any, *apiError) {
	return func(c *call) (any, *apiError) {
		return c.inChat(func(chat *chat) (any, *apiError) {
			id := c.params.integer("message_thread_id", 0)
			found, known := chat.topics[id]
			if !known {
				return nil, badRequest("message thread not found")
			}
			return true, change(c, chat, id, found)
		})
	}
}

func renameTopic(c *call, _ *chat, _ int64, t *topic) *apiError {
	if name := strings.TrimSpace(c.params.values["name"]); name != "" {
		if utf8.RuneCountInString(name) > maxTopicName {
			return badRequest("TOPIC_TITLE_INVALID")
		}
		t.name = name
	}
	return nil
}

// closeTopic closes a topic or opens it again.
func closeTopic(closed bool) func(*call, *chat, int64, *topic) *apiError {
	return func(_ *call, _ *chat, _ int64, t *topic) *apiError {
		if t.closed == closed {
			return badRequest("TOPIC_NOT_MODIFIED")
		}
		t.closed = closed
		return nil
	}
}

func deleteTopic(c *call, chat *chat, id int64, _ *topic) *apiError {
	delete(chat.topics, id)
	c.world.topics--
	return nil
}

// thread checks the message_thread_id of a message to a chat and gives that of
// the topic it goes to, zero for none. Where there are no topics it is ignored,
// except in private chats.
func (c *chat) thread(id int64) (int64, *apiError) {
	switch {
	case id <= 0, c.isGroup() && c.topics == nil:
		return 0, nil
	case c.topics[id] == nil:
		return 0, badRequest("message thread not found")
	case c.topics[id].closed:
		return 0, badRequest("TOPIC_CLOSED")
	}
	return id, nil
}
