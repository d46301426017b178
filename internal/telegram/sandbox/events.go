package sandbox

import (
	"bytes"
	"fmt"

	"notifier/internal/telegram/sandbox/markup"
)

// say publishes a message of the customer; w.mu is held.
func (w *world) say(c *chat, text string) {
	m := w.incoming(c)
	m.Text, m.Entities = text, markup.Find(text)
	w.show(c, line{author: authorCustomer, id: m.MessageID, text: text, entities: m.Entities, incoming: &m})
	w.publish(updateMessage, func(*bot) any { return m })
	if bytes.Contains(c.keyboard, []byte(`"one_time_keyboard":true`)) {
		c.keyboard = nil
	}
}

// incoming is a message of the customer without content yet.
func (w *world) incoming(c *chat) messageObject {
	w.lastMessage++
	from := c.customer()
	return messageObject{MessageID: w.lastMessage, From: &from, Chat: c.object(), Date: w.clock.now().Unix()}
}

// tellMigration publishes the service messages in both chats; w.mu is held.
func (w *world) tellMigration(from, to *chat) {
	leaving, arriving := w.incoming(from), w.incoming(to)
	leaving.MigrateTo, arriving.MigrateFrom = to.id, from.id
	w.notice(from, fmt.Sprintf("The group has become %d.", to.id))
	w.notice(to, fmt.Sprintf("The group was %d before.", from.id))
	w.publish(updateMessage, func(*bot) any { return leaving })
	w.publish(updateMessage, func(*bot) any { return arriving })
}

// chatMember is the Bot API's ChatMember for the bot itself.
type chatMember struct {
	User            user   `json:"user"`
	Status          string `json:"status"`
	UntilDate       *int   `json:"until_date,omitempty"`
	IsMember        *bool  `json:"is_member,omitempty"`
	CanSendMessages *bool  `json:"can_send_messages,omitempty"`
}

// member is what the bot is in a chat that is in a state.
func (b *bot) member(state ChatState) chatMember {
	forever, yes, no := 0, true, false
	switch state {
	case ChatBlocked, ChatKicked:
		return chatMember{User: b.user(), Status: "kicked", UntilDate: &forever}
	case ChatRestricted:
		return chatMember{b.user(), "restricted", &forever, &yes, &no}
	case ChatUnknown:
		return chatMember{User: b.user(), Status: "left"}
	default:
		return chatMember{User: b.user(), Status: "member"}
	}
}

// tellMembership publishes that the bot's place in a chat has changed; w.mu is
// held. In a private chat only a block and its end are told.
func (w *world) tellMembership(c *chat, before ChatState) {
	blocked := func(s ChatState) bool { return s == ChatBlocked || s == ChatKicked }
	if !c.isGroup() && blocked(before) == blocked(c.state) {
		return
	}
	from, chat, now := c.customer(), c.object(), w.clock.now().Unix()
	state := c.state
	w.publish(updateMyChatMember, func(b *bot) any {
		return map[string]any{
			"chat": chat, "from": from, "date": now,
			"old_chat_member": b.member(before), "new_chat_member": b.member(state),
		}
	})
}
