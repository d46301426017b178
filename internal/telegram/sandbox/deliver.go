package sandbox

import (
	"encoding/json"
	"time"

	"notifier/internal/telegram/sandbox/markup"
)

// outgoing is what a message-delivering method wants to send.
type outgoing struct {
	kind     MessageKind
	what     string // for "not enough rights to send … to the chat"
	text     string // the name of its text parameter, empty if there is none
	entities string // and of the one with entities in place of a parse mode
	file     *sentFile
	said     params          // what was said about the file
	media    json.RawMessage // the content of a message without a file
	payload  string          // of an invoice
}

// draft is a message that has been read and not yet judged.
type draft struct {
	message *Message
	text    markup.Text
	markup  *replyMarkup
	reply   replyParameters
	thread  int64
}

// deliver puts a message into its chat, when the limits let it.
func (c *call) deliver(out outgoing) (any, *apiError) {
	d, err := c.compose(out)
	if err != nil {
		return nil, err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	restricted := "not enough rights to send " + out.what + " to the chat"
	if err := w.judge(d, restricted); err != nil {
		return nil, err
	}
	if err := c.place(restricted, d.message); err != nil {
		return nil, err
	}
	return w.object(d.message), nil
}

// place puts messages that are all right into their chat, when the limits let
// them; world.mu is held. Several at once are an album, which counts as one.
func (c *call) place(restricted string, messages ...*Message) *apiError {
	w, chatID := c.world, messages[0].ChatID
	at, err := c.takeSlot(chatID)
	if err != nil {
		return err
	}
	if err := w.chat(chatID).access(restricted); err != nil { // it may have changed in a hold
		return err
	}
	for _, m := range messages {
		w.lastMessage++
		m.MessageID, m.ReceivedAt = w.lastMessage, at
		w.keep(m)
	}
	return nil
}

// compose reads the parameters that all such methods have. What it refuses, the
// real server refuses before it looks for the chat.
func (c *call) compose(out outgoing) (*draft, *apiError) {
	p := c.params
	preview, err := p.linkPreview()
	if err != nil {
		return nil, err
	}
	var raw rawText
	if out.text != "" {
		raw = p.rawText(out.text, "parse_mode", out.entities)
	}
	text, broken := raw.parse()
	if broken != nil {
		return nil, telegramRefusal(broken)
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
	m := &Message{
		BotID:        c.bot.id,
		ChatID:       chatID,
		Kind:         out.kind,
		Text:         raw.text,
		ParseMode:    p.parseMode(),
		sentBy:       c.record.CallID,
		file:         out.file,
		media:        out.media,
		payload:      out.payload,
		captionAbove: p.flag("show_caption_above_media"),
		protected:    p.flag("protect_content"),
		effect:       p.effect(),
	}
	switch {
	case out.kind == KindText:
		m.preview = preview
	case out.file != nil && out.kind != KindPhoto && out.kind != KindDocument:
		m.media = out.file.media(out.kind, out.said)
	}
	return &draft{message: m, text: text, markup: keyboard, reply: reply, thread: p.integer("message_thread_id", 0)}, nil
}

// effect is the message effect of a message, empty without one.
func (p params) effect() string {
	if id := p.values["message_effect_id"]; looseInteger(id) != 0 {
		return id
	}
	return ""
}

// judge checks a draft against its chat and completes the message; w.mu is
// held. The order is the real server's: the chat, the message that is answered,
// the keyboard, the text.
func (w *world) judge(d *draft, restricted string) *apiError {
	m, c := d.message, w.chat(d.message.ChatID)
	if err := c.access(restricted); err != nil {
		return err
	}
	var err *apiError
	if m.thread, err = c.thread(d.thread); err != nil {
		return err
	}
	if m.reply, err = w.answered(m.ChatID, d.reply); err != nil {
		return err
	}
	if m.reply != nil {
		m.ReplyTo = m.reply.messageID
	}
	shown, err := d.markup.judge(c, false)
	if err != nil {
		return err
	}
	m.ReplyMarkup, m.Keyboard, m.removesKeyboard = shown.inline, shown.keyboard, shown.removes
	return w.judgeText(m, d.text)
}

// judgeText checks a text or caption and gives it to a message.
func (w *world) judgeText(m *Message, text markup.Text) *apiError {
	fixed, err := w.fixText(text, m.isCaption())
	if err != nil {
		return err
	}
	check := checkText
	if m.isCaption() {
		check = checkCaption
	}
	if err := check(fixed.Text); err != nil {
		return err
	}
	if m.VisibleText = fixed.Text; m.Text == fixed.Text {
		m.VisibleText = m.Text // one copy is enough
	}
	m.entities = fixed.Entities
	return nil
}

// takeSlot asks the limits for a slot and waits for it; w.mu is held, except
// during the wait. The slot, not the moment of waking up, is when the message
// counts as received.
func (c *call) takeSlot(chatID int64) (time.Time, *apiError) {
	w := c.world
	now := w.clock.now()
	g := c.bot.limiter.decide(w.limits, chatID, c.caller, now)
	for _, v := range g.violated {
		c.record.Violated = append(c.record.Violated, v.scope)
		c.record.Violations = append(c.record.Violations, v.String())
	}
	if len(g.violated) > 0 {
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
