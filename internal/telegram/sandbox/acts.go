package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
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

// turn changes the state of a chat and tells the bots.
func (s *Sandbox) turn(chatID int64, state ChatState) error {
	return s.act(chatID, func(w *world, c *chat) error { return w.turn(c, state) })
}

func (w *world) turn(c *chat, state ChatState) error {
	if err := c.settled(); err != nil {
		return err
	}
	before := c.state
	if c.state = state; before != state {
		w.tellMembership(c, before)
	}
	if before != state && before != ChatUnknown {
		w.notice(c, noticeOf(c, before, state))
	}
	return nil
}

// settled tells why the state of a chat cannot change any more.
func (c *chat) settled() error {
	switch c.state {
	case ChatDeactivated:
		if c.isGroup() {
			return impossible("group %d is deleted", c.id)
		}
		return impossible("the account of chat %d is deleted", c.id)
	case ChatMigrated:
		return impossible("chat %d has become %d", c.id, c.migratedTo)
	default:
		return nil
	}
}

// Block makes the customer block the bot.
func (s *Sandbox) Block(chatID int64) error { return s.turn(chatID, ChatBlocked) }

// Unblock makes the chat open again after Block, Kick or Restrict: the customer
// unblocks the bot, a group takes it back or gives it its rights.
func (s *Sandbox) Unblock(chatID int64) error { return s.turn(chatID, ChatOpen) }

// Deactivate deletes the customer's account, or the group, for good. Bots are not
// told.
func (s *Sandbox) Deactivate(chatID int64) error {
	return s.act(chatID, func(w *world, c *chat) error {
		if err := c.settled(); err != nil {
			return err
		}
		w.notice(c, noticeOf(c, c.state, ChatDeactivated))
		c.state = ChatDeactivated
		return nil
	})
}

// Kick removes and bans the bot from a group.
func (s *Sandbox) Kick(chatID int64) error { return s.turn(chatID, ChatKicked) }

// Restrict takes the right to write from the bot.
func (s *Sandbox) Restrict(chatID int64) error { return s.turn(chatID, ChatRestricted) }

// Migrate makes a group the supergroup with the id to, which is open.
func (s *Sandbox) Migrate(chatID, to int64) error {
	if to == 0 || to == chatID {
		return impossible("a group migrates to another id, not to %d", to)
	}
	return s.act(chatID, func(w *world, c *chat) error {
		if err := c.settled(); err != nil {
			return err
		}
		target := w.chat(to)
		if err := target.settled(); err != nil {
			return err
		}
		c.state, c.migratedTo = ChatMigrated, to
		target.state = ChatOpen
		w.tellMigration(c, target)
		return nil
	})
}

// Start makes the customer press Start, with the payload of a deep link or
// none. It opens the chat as Write does.
func (s *Sandbox) Start(chatID int64, payload string) error {
	return s.Write(chatID, strings.TrimSpace("/start "+payload))
}

// Write makes the customer send a text of 1 to 4096 characters to the bot. It
// opens a chat that was unknown, ends a block as the Restart button does, and
// brings the bot back to a group that had kicked it; a restriction stays.
func (s *Sandbox) Write(chatID int64, text string) error {
	if strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > maxText {
		return impossible("a message has a text of 1 to %d characters", maxText)
	}
	return s.act(chatID, func(w *world, c *chat) error {
		state := ChatOpen
		if c.state == ChatRestricted {
			state = ChatRestricted
		}
		if err := w.turn(c, state); err != nil {
			return err
		}
		w.say(c, text)
		return nil
	})
}

// Press makes the customer press a button with callback data, up to 64 bytes,
// below a message. The data need not be that of a button: clients can send any.
func (s *Sandbox) Press(chatID, messageID int64, data string) error {
	if len(data) > maxCallbackData {
		return impossible("callback data has up to %d bytes", maxCallbackData)
	}
	return s.act(chatID, func(w *world, c *chat) error {
		m := w.message(chatID, messageID)
		switch {
		case m == nil:
			return impossible("chat %d has no message %d", chatID, messageID)
		case c.state == ChatBlocked || c.state == ChatKicked:
			return impossible("the bot is blocked in chat %d", chatID)
		}
		if err := c.settled(); err != nil {
			return err
		}
		w.pressed(c, m, data)
		return nil
	})
}
