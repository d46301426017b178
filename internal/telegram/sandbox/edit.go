package sandbox

import (
	"bytes"
	"slices"
	"time"

	"notifier/internal/telegram/sandbox/markup"
)

// editMessageText changes a text message of the bot. It spends no limit.
func editMessageText(c *call) (any, *apiError) {
	if c.params.values["text"] == "" {
		return nil, badRequest("message text is empty")
	}
	edited, err := c.compose(outgoing{kind: KindText, text: "text", entities: "entities"})
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.chat(edited.ChatID).access("not enough rights to edit messages in the chat"); err != nil {
		return nil, err
	}
	messageID := c.params.integer("message_id", 0)
	m := w.message(edited.ChatID, messageID)
	if err := c.checkEdit(m, edited, messageID); err != nil {
		return nil, err
	}
	m.Text, m.VisibleText, m.ParseMode = edited.Text, edited.VisibleText, edited.ParseMode
	m.ReplyMarkup, m.entities, m.EditedAt = edited.ReplyMarkup, edited.entities, time.Now()
	m.editedBy = c.record.CallID
	w.touch(w.chat(m.ChatID))
	return w.object(m), nil
}

func (c *call) checkEdit(m, edited *Message, messageID int64) *apiError {
	switch {
	case messageID == 0:
		return badRequest("message identifier is not specified")
	case m == nil:
		return badRequest("message to edit not found")
	case m.BotID != c.bot.id:
		return badRequest("message can't be edited")
	case m.Kind != KindText:
		return badRequest("there is no text in the message to edit")
	}
	if err := checkText(markup.Text{Text: edited.VisibleText}); err != nil {
		return err
	}
	sameText := m.VisibleText == edited.VisibleText && slices.EqualFunc(m.entities, edited.entities, markup.Entity.Same)
	if sameText && bytes.Equal(m.ReplyMarkup, edited.ReplyMarkup) {
		return badRequest("message is not modified: specified new message content and reply markup are exactly " +
			"the same as a current content and reply markup of the message")
	}
	return nil
}
