package sandbox

import (
	"encoding/json"

	"notifier/internal/telegram/sandbox/markup"
)

// edit changes a message of the bot: what a method does about the message
// itself, after its keyboard was read and before it is judged; world.mu is held
// in change, which makes the new message of a copy of the old.
func (c *call) edit(change func(edited *Message) *apiError) (any, *apiError) {
	keyboard, err := c.params.markup()
	if err != nil {
		return nil, err
	}
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	m, err := c.editable(chatID)
	if err != nil {
		return nil, err
	}
	edited := *m
	if err := change(&edited); err != nil {
		return nil, err
	}
	shown, err := keyboard.judge(w.chat(chatID), true)
	if err != nil {
		return nil, err
	}
	if edited.ReplyMarkup = shown.inline; edited.sameAs(m) {
		return nil, errNotModified
	}
	*m = edited
	c.edited(m)
	return w.object(m), nil
}

// editMessageReplyMarkup changes the keyboard below a message.
func editMessageReplyMarkup(c *call) (any, *apiError) {
	return c.edit(func(*Message) *apiError { return nil })
}

// editMessageCaption changes a caption; without one it is taken away.
func editMessageCaption(c *call) (any, *apiError) {
	raw := c.params.rawText("caption", "parse_mode", "caption_entities")
	text, err := raw.parse()
	if err != nil {
		return nil, telegramRefusal(err)
	}
	return c.edit(func(m *Message) *apiError {
		if _, isFile := mediaKinds[m.Kind]; !isFile || mediaKinds[m.Kind].noCaption {
			return badRequest("there is no caption in the message to edit")
		}
		m.Text, m.ParseMode, m.captionAbove = raw.text, c.params.parseMode(), c.params.flag("show_caption_above_media")
		return c.world.judgeText(m, text)
	})
}

// editMessageMedia puts another file in the place of that of a message.
func editMessageMedia(c *call) (any, *apiError) {
	text, err := c.params.required("media")
	if err != nil {
		return nil, telegramRefusal(err)
	}
	if !json.Valid([]byte(text)) {
		return nil, badRequest("can't parse input media JSON object")
	}
	in, err := readInputMedia(json.RawMessage(text), false)
	if err != nil {
		return nil, telegramRefusal(telegramErrorf("Can't parse InputMedia: %v", err))
	}
	fresh, refused := in.message(c)
	if refused != nil {
		return nil, refused
	}
	return c.edit(func(m *Message) *apiError {
		if _, isFile := mediaKinds[m.Kind]; !isFile || mediaKinds[m.Kind].noCaption {
			return badRequest("there is no media in the message to edit")
		}
		m.Kind, m.file, m.media = fresh.Kind, fresh.file, fresh.media
		m.Text, m.ParseMode, m.captionAbove = fresh.Text, fresh.ParseMode, fresh.captionAbove
		return c.world.judgeText(m, in.parsed)
	})
}

// stopPoll closes a poll and gives it as it is then.
func stopPoll(c *call) (any, *apiError) {
	var closed json.RawMessage
	_, err := c.edit(func(m *Message) *apiError {
		var p poll
		if m.Kind != KindPoll || json.Unmarshal(m.media, &p) != nil {
			return badRequest("message with poll to stop not found")
		}
		if p.IsClosed {
			return badRequest("poll has already been closed")
		}
		p.IsClosed = true
		m.media = encode(p)
		closed = m.media
		return nil
	})
	return closed, err
}

// copyable finds a message that is to be copied or forwarded: a bot's, or a text
// of the customer; world.mu is held.
func (w *world) copyable(chatID, messageID int64, what string) (*Message, *apiError) {
	if m := w.message(chatID, messageID); m != nil {
		if m.protected {
			return nil, badRequest("message has protected content and can't be forwarded")
		}
		return m, nil
	}
	if o := w.anyMessage(chatID, messageID); o != nil && o.Text != "" {
		return &Message{ChatID: chatID, MessageID: messageID, Kind: KindText, Text: o.Text, VisibleText: o.Text,
			entities: o.Entities}, nil
	}
	return nil, badRequest("message to %s not found", what)
}

// replica is a copy of a message for another place.
func (c *call) replica(m *Message, chatID int64) *Message {
	replica := *m
	replica.BotID, replica.ChatID, replica.sentBy = c.bot.id, chatID, c.record.CallID
	replica.reply, replica.ReplyTo, replica.album, replica.ReplyMarkup, replica.Keyboard = nil, 0, "", nil, nil
	replica.editedBy, replica.forward, replica.thread, replica.effect = 0, nil, 0, ""
	replica.EditedAt, replica.DeletedAt = noTime, noTime
	replica.protected = c.params.flag("protect_content")
	return &replica
}

// forwardMessage forwards one message.
func forwardMessage(c *call) (any, *apiError) {
	return c.again("forward", func(d *draft, original *Message) {
		origin := c.world.originOf(original)
		d.message.forward = &origin
	}, func(m *Message) any { return c.world.object(m) })
}

// copyMessage copies one message, with another caption if one is given.
func copyMessage(c *call) (any, *apiError) {
	_, replaced := c.params.values["caption"]
	raw := c.params.rawText("caption", "parse_mode", "caption_entities")
	caption, err := raw.parse()
	if err != nil {
		return nil, telegramRefusal(err)
	}
	return c.again("copy", func(d *draft, original *Message) {
		if _, isFile := mediaKinds[original.Kind]; isFile && replaced {
			d.message.Text, d.message.ParseMode, d.text = raw.text, c.params.parseMode(), caption
		}
	}, func(m *Message) any { return messageIDObject{m.MessageID} })
}

// messageIDObject is the Bot API's MessageId.
type messageIDObject struct {
	MessageID int64 `json:"message_id"`
}

// originOf is where a message comes from; world.mu is held.
func (w *world) originOf(m *Message) messageOrigin {
	if m.forward != nil {
		return *m.forward
	}
	if o := w.anyMessage(m.ChatID, m.MessageID); o != nil {
		return o.origin()
	}
	return messageOrigin{Type: "user", Date: m.ReceivedAt.Unix()}
}

// again sends a message that exists once more.
func (c *call) again(what string, change func(*draft, *Message), result func(*Message) any) (any, *apiError) {
	p := c.params
	if _, err := p.required("from_chat_id"); err != nil {
		return nil, telegramRefusal(err)
	}
	from, err := parseChatID(p.values["from_chat_id"])
	if err != nil {
		return nil, err
	}
	reply, err := p.replyParameters()
	if err != nil {
		return nil, err
	}
	keyboard, err := p.markup()
	if err != nil {
		return nil, err
	}
	chatID, err := p.chatParameter()
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	original, err := w.copyable(from, p.integer("message_id", 0), what)
	if err != nil {
		return nil, err
	}
	d := &draft{message: c.replica(original, chatID), markup: keyboard, reply: reply,
		text: markup.Text{Text: original.VisibleText, Entities: original.entities}, thread: p.integer("message_thread_id", 0)}
	change(d, original)
	const restricted = "not enough rights to send messages to the chat"
	if err := w.judge(d, restricted); err != nil {
		return nil, err
	}
	if err := c.place(restricted, d.message); err != nil {
		return nil, err
	}
	return result(d.message), nil
}
