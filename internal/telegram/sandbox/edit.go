package sandbox

import (
	"bytes"
	"slices"

	"notifier/internal/telegram/sandbox/markup"
)

// editMessageText changes a text message of the bot. It spends no limit.
func editMessageText(c *call) (any, *apiError) {
	if err := c.checkTextGiven(); err != nil {
		return nil, err
	}
	d, err := c.compose(outgoing{kind: KindText, text: "text", entities: "entities"})
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	edited := d.message
	m, err := c.editable(edited.ChatID)
	if err != nil {
		return nil, err
	}
	if m.Kind != KindText {
		return nil, badRequest("there is no text in the message to edit")
	}
	shown, err := d.markup.judge(w.chat(m.ChatID), true)
	if err != nil {
		return nil, err
	}
	edited.ReplyMarkup = shown.inline
	if err := w.judgeText(edited, d.text); err != nil {
		return nil, err
	}
	if edited.sameAs(m) {
		return nil, errNotModified
	}
	m.Text, m.VisibleText, m.ParseMode, m.entities = edited.Text, edited.VisibleText, edited.ParseMode, edited.entities
	m.ReplyMarkup, m.preview = edited.ReplyMarkup, edited.preview
	c.edited(m)
	return w.object(m), nil
}

var errNotModified = badRequest("message is not modified: specified new message content and reply markup are exactly " +
	"the same as a current content and reply markup of the message")

// sameAs tells whether an edit would change nothing that can be seen.
func (m *Message) sameAs(other *Message) bool {
	return m.VisibleText == other.VisibleText && m.file == other.file && bytes.Equal(m.media, other.media) &&
		m.captionAbove == other.captionAbove && slices.EqualFunc(m.entities, other.entities, markup.Entity.Same) &&
		bytes.Equal(m.ReplyMarkup, other.ReplyMarkup)
}

// editable finds the message that a call wants to edit; world.mu is held.
func (c *call) editable(chatID int64) (*Message, *apiError) {
	w := c.world
	if err := w.chat(chatID).access("not enough rights to edit messages in the chat"); err != nil {
		return nil, err
	}
	m := w.message(chatID, c.params.integer("message_id", 0))
	switch {
	case m == nil:
		return nil, badRequest("message to edit not found")
	case m.BotID != c.bot.id:
		return nil, badRequest("message can't be edited")
	}
	return m, nil
}

// edited notes that a message was changed; world.mu is held.
func (c *call) edited(m *Message) {
	m.EditedAt, m.editedBy = c.world.clock.now(), c.record.CallID
	c.world.touch(c.world.chat(m.ChatID))
}
