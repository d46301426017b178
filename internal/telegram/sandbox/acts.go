package sandbox

import (
	"errors"
	"fmt"
)

// ErrImpossible is what an act fails with when no customer could do it in the
// state their chat is in. The text says why.
var ErrImpossible = errors.New("impossible")

func impossible(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrImpossible, fmt.Sprintf(format, args...))
}

// act changes a chat as one step.
func (s *Sandbox) act(chatID int64, change func(*world, *chat) error) error {
	if chatID == 0 {
		return impossible("0 is no chat id")
	}
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	return change(w, w.chat(chatID))
}

// Block makes the customer block the bot.
func (s *Sandbox) Block(chatID int64) error {
	return s.act(chatID, func(_ *world, c *chat) error { return c.become(ChatBlocked) })
}

// Unblock makes the chat open again after Block, Kick or Restrict: the customer
// unblocks the bot, a group takes it back or gives it its rights.
func (s *Sandbox) Unblock(chatID int64) error {
	return s.act(chatID, func(_ *world, c *chat) error { return c.become(ChatOpen) })
}

// Deactivate deletes the customer's account, for good.
func (s *Sandbox) Deactivate(chatID int64) error {
	return s.act(chatID, func(_ *world, c *chat) error { return c.become(ChatDeactivated) })
}

// Kick removes and bans the bot from a group.
func (s *Sandbox) Kick(chatID int64) error {
	return s.act(chatID, func(_ *world, c *chat) error { return c.become(ChatKicked) })
}

// Restrict takes the right to write from the bot.
func (s *Sandbox) Restrict(chatID int64) error {
	return s.act(chatID, func(_ *world, c *chat) error { return c.become(ChatRestricted) })
}

// become changes the state. Two states are final.
func (c *chat) become(state ChatState) error {
	switch c.state {
	case ChatDeactivated:
		return impossible("the account of chat %d is deactivated", c.id)
	case ChatMigrated:
		return impossible("chat %d has become %d", c.id, c.migratedTo)
	}
	c.state = state
	return nil
}

// Migrate makes a group the supergroup with the id to, which is open.
func (s *Sandbox) Migrate(chatID, to int64) error {
	if to == 0 || to == chatID {
		return impossible("a group migrates to another id, not to %d", to)
	}
	return s.act(chatID, func(w *world, c *chat) error {
		if err := c.become(ChatMigrated); err != nil {
			return err
		}
		c.migratedTo = to
		w.chat(to).state = ChatOpen
		return nil
	})
}

// Start makes the customer press Start, with the payload of a deep link or
// none. It opens a chat that was unknown and unblocks one that was blocked.
func (s *Sandbox) Start(chatID int64, payload string) error {
	text := "/start"
	if payload != "" {
		text += " " + payload
	}
	return s.Write(chatID, text)
}

// Write makes the customer send a message to the bot, which opens the chat as
// Start does.
func (s *Sandbox) Write(chatID int64, text string) error {
	if text == "" {
		return impossible("a message has a text")
	}
	return s.act(chatID, func(_ *world, c *chat) error { return c.become(ChatOpen) })
}

// Press makes the customer press a button with callback data below a message.
func (s *Sandbox) Press(chatID, messageID int64, data string) error {
	return s.act(chatID, func(w *world, c *chat) error {
		for _, m := range w.messages.entries {
			if m.ChatID == chatID && m.MessageID == messageID {
				return c.become(ChatOpen)
			}
		}
		return impossible("chat %d has no message %d", chatID, messageID)
	})
}
