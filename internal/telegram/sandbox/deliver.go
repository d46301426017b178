package sandbox

import (
	"time"

	"notifier/internal/telegram/sandbox/markup"
)

// outgoing is what a message-delivering method wants to send.
type outgoing struct {
	kind      MessageKind
	what      string // for "not enough rights to send … to the chat"
	text      string // the name of its text parameter
	entities  string // and of the one with entities in place of a parse mode
	file      *sentFile
	checkText func(markup.Text) *apiError // once the chat is known to be usable
}

// deliver puts a message into its chat, when the limits let it.
func (c *call) deliver(out outgoing) (any, *apiError) {
	m, err := c.compose(out)
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	restricted := "not enough rights to send " + out.what + " to the chat"
	if err := w.chat(m.ChatID).access(restricted); err != nil {
		return nil, err
	}
	if err := out.checkText(markup.Text{Text: m.VisibleText, Entities: m.entities}); err != nil {
		return nil, err
	}
	if err := c.checkReply(m.ChatID); err != nil {
		return nil, err
	}
	if m.ReceivedAt, err = c.takeSlot(m.ChatID); err != nil {
		return nil, err
	}
	if err := w.chat(m.ChatID).access(restricted); err != nil { // it may have changed in a hold
		return nil, err
	}
	w.lastMessage++
	m.MessageID = w.lastMessage
	w.keep(m)
	return w.object(m), nil
}

// compose reads the parameters that all such methods have.
func (c *call) compose(out outgoing) (*Message, *apiError) {
	text, err := c.params.formattedText(out.text, out.entities)
	if err != nil {
		return nil, err
	}
	markup, err := c.params.markup()
	if err != nil {
		return nil, err
	}
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	if c.params.integer("message_thread_id", 0) != 0 {
		return nil, badRequest("message thread not found") // no chat of the sandbox has topics
	}
	return &Message{
		BotID:       c.bot.id,
		ChatID:      chatID,
		Kind:        out.kind,
		Text:        c.params.values[out.text],
		VisibleText: text.Text,
		ParseMode:   c.params.parseMode(),
		ReplyMarkup: markup,
		sentBy:      c.record.CallID,
		entities:    text.Entities,
		file:        out.file,
	}, nil
}

// takeSlot asks the limits for a slot and waits for it; w.mu is held, except
// during the wait. The slot, not the moment of waking up, is when the message
// counts as received.
func (c *call) takeSlot(chatID int64) (time.Time, *apiError) {
	w := c.world
	now := time.Now()
	g := c.bot.limiter.decide(w.limits, chatID, c.order(), now)
	if len(g.violated) > 0 {
		c.record.Violated = g.violated
		w.stats.Violations++
	}
	if g.retryAfter > 0 {
		return time.Time{}, tooManyRequests(g.retryAfter)
	}
	if g.at.After(now) {
		w.mu.Unlock()
		alive := w.sleepUntil(g.at)
		w.mu.Lock()
		if !alive {
			return time.Time{}, errAborted
		}
	}
	return g.at, nil
}

// order is the call's place among the others; world.mu is held.
func (c *call) order() callOrder { return callOrder{c.record.CallID, c.world.lastCall} }
