package sandbox

import (
	"encoding/json"
	"strings"
	"time"
)

// noTime is no time at all.
var noTime time.Time

// The bounds of methods for several messages.
const maxMessageIDs = 100

// messageIDs reads message_ids.
func (p params) messageIDs() ([]int64, error) {
	text := p.values["message_ids"]
	if text == "" {
		return nil, telegramError("Message identifiers are not specified")
	}
	if !json.Valid([]byte(text)) {
		return nil, telegramError("Can't parse message_ids JSON object")
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, telegramError("Expected an Array of message identifiers")
	}
	if len(list) > maxMessageIDs {
		return nil, telegramError("Too many message identifiers specified")
	}
	var ids []int64
	for _, raw := range list {
		kind := kindOfJSON(raw)
		if kind != "Number" && kind != "String" {
			return nil, telegramError("Message identifier must be a Number")
		}
		id, err := jsonObject{"id": raw}.requiredInteger("id")
		if err != nil {
			return nil, telegramError("Can't parse message identifier as a Number")
		}
		if id <= 0 {
			return nil, telegramError("Invalid message identifier specified")
		}
		ids = append(ids, int64(id))
	}
	if len(ids) == 0 {
		return nil, telegramError("Message identifiers are not specified")
	}
	return ids, nil
}

// deleteMessage deletes one message; what was delivered stays in the records,
// with the time of the deletion.
func deleteMessage(c *call) (any, *apiError) {
	messageID := c.params.integer("message_id", 0)
	switch {
	case c.params.values["chat_id"] == "":
		return nil, badRequest("chat identifier is not specified")
	case messageID <= 0:
		return nil, badRequest("message identifier is not specified")
	}
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.chat(chatID).access("have no write access to the chat"); err != nil {
		return nil, err
	}
	return true, w.remove(c.bot, chatID, messageID)
}

// deleteMessages deletes those of several messages that are there.
func deleteMessages(c *call) (any, *apiError) {
	ids, broken := c.params.messageIDs()
	if broken != nil {
		return nil, telegramRefusal(broken)
	}
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.chat(chatID).access("have no write access to the chat"); err != nil {
		return nil, err
	}
	for _, id := range ids {
		_ = w.remove(c.bot, chatID, id) // one that is not there is passed over
	}
	return true, nil
}

// deletableFor is how long a message in a private chat can be deleted.
const deletableFor = 48 * time.Hour

// remove deletes one message of a chat; w.mu is held.
func (w *world) remove(b *bot, chatID, messageID int64) *apiError {
	c := w.chat(chatID)
	m := w.message(chatID, messageID)
	if m != nil {
		if m.BotID != b.id && c.isGroup() || w.clock.now().Sub(m.ReceivedAt) > deletableFor {
			return badRequest("message can't be deleted for everyone")
		}
		m.DeletedAt = w.clock.now()
	}
	for i, l := range c.lines {
		if l.id == messageID {
			if m == nil && c.isGroup() {
				return badRequest("message can't be deleted for everyone")
			}
			c.lines = append(c.lines[:i:i], c.lines[i+1:]...)
			w.notice(c, "A message was deleted.")
			return nil
		}
	}
	if m == nil {
		return badRequest("message to delete not found")
	}
	w.touch(c)
	return nil
}

func forwardMessages(c *call) (any, *apiError) {
	return c.severalAgain("forward", func(replica, original *Message) {
		origin := c.world.originOf(original)
		replica.forward = &origin
	})
}

func copyMessages(c *call) (any, *apiError) {
	return c.severalAgain("copy", func(replica, _ *Message) {
		if _, isFile := mediaKinds[replica.Kind]; isFile && c.params.flag("remove_caption") {
			replica.Text, replica.VisibleText, replica.entities = "", "", nil
		}
	})
}

// severalAgain sends those of several messages that are there once more. For the
// limits they are one.
func (c *call) severalAgain(what string, change func(replica, original *Message)) (any, *apiError) {
	p := c.params
	if _, err := p.required("from_chat_id"); err != nil {
		return nil, telegramRefusal(err)
	}
	from, err := parseChatID(p.values["from_chat_id"])
	if err != nil {
		return nil, err
	}
	ids, broken := p.messageIDs()
	if broken != nil {
		return nil, telegramRefusal(broken)
	}
	chatID, err := p.chatParameter()
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	const restricted = "not enough rights to send messages to the chat"
	if err := w.chat(chatID).access(restricted); err != nil {
		return nil, err
	}
	var replicas []*Message
	for _, id := range ids {
		if original, err := w.copyable(from, id, what); err == nil {
			replica := c.replica(original, chatID)
			change(replica, original)
			replicas = append(replicas, replica)
		}
	}
	if len(replicas) == 0 {
		return nil, badRequest("there are no messages to %s", what)
	}
	if err := c.place(restricted, replicas...); err != nil {
		return nil, err
	}
	var result []messageIDObject
	for _, m := range replicas {
		result = append(result, messageIDObject{m.MessageID})
	}
	return result, nil
}

// pinChatMessage pins a message of a chat.
func pinChatMessage(c *call) (any, *apiError) {
	return c.onMessage("message to pin", func(chat *chat, id int64) *apiError {
		if chat.pinned = id; chat.pinned != 0 {
			c.world.notice(chat, "A message was pinned.")
		}
		return nil
	})
}

// unpinChatMessage unpins a message, without message_id the one that is pinned.
func unpinChatMessage(c *call) (any, *apiError) {
	if c.params.integer("message_id", 0) == 0 {
		return c.inChat(func(chat *chat) (any, *apiError) {
			if chat.pinned == 0 {
				return nil, badRequest("message to unpin not found")
			}
			chat.pinned = 0
			return true, nil
		})
	}
	return c.onMessage("message to unpin", func(chat *chat, id int64) *apiError {
		if chat.pinned == id {
			chat.pinned = 0
		}
		return nil
	})
}

func unpinAllChatMessages(c *call) (any, *apiError) {
	return c.inChat(func(chat *chat) (any, *apiError) {
		chat.pinned = 0
		return true, nil
	})
}

// inChat does something in a chat that the bot can use; world.mu is held.
func (c *call) inChat(do func(*chat) (any, *apiError)) (any, *apiError) {
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	chat := c.world.chat(chatID)
	if err := chat.access("have no write access to the chat"); err != nil {
		return nil, err
	}
	return do(chat)
}

// onMessage does something with a message of a chat; world.mu is held.
func (c *call) onMessage(what string, do func(*chat, int64) *apiError) (any, *apiError) {
	return c.inChat(func(chat *chat) (any, *apiError) {
		id := c.params.integer("message_id", 0)
		if id <= 0 || !c.world.knowsMessage(chat.id, id) {
			return nil, badRequest("%s not found", what)
		}
		return true, do(chat, id)
	})
}

// setMessageReaction shows a reaction of the bot.
func setMessageReaction(c *call) (any, *apiError) {
	emoji, err := readReactions(c.params.values["reaction"])
	if err != nil {
		return nil, telegramRefusal(err)
	}
	return c.onMessage("message to react", func(chat *chat, _ int64) *apiError {
		if len(emoji) > 0 {
			c.world.notice(chat, "The bot reacted with "+strings.Join(emoji, " ")+".")
		}
		return nil
	})
}

func readReactions(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var list []json.RawMessage
	if !json.Valid([]byte(text)) {
		return nil, telegramError("Can't parse reaction types JSON object")
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, telegramError("Expected an Array of ReactionType")
	}
	var emoji []string
	for _, raw := range list {
		object, err := parseObject(raw)
		if err != nil {
			return nil, telegramError("Can't parse ReactionType: expected an Object")
		}
		kind, err := object.requiredText("type")
		if err != nil {
			return nil, err
		}
		name := map[string]string{"emoji": "emoji", "custom_emoji": "custom_emoji_id"}[kind]
		if name == "" {
			return nil, telegramError("Can't parse ReactionType: invalid reaction type specified")
		}
		value, err := object.requiredText(name)
		if err != nil {
			return nil, err
		}
		emoji = append(emoji, value)
	}
	return emoji, nil
}
