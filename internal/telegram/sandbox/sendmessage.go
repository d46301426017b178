package sandbox

import (
	"strings"
	"time"
	"unicode/utf8"
)

// The lengths of a text: before parsing in bytes, after it in Unicode code
// points.
const (
	maxRawText = 1 << 15
	maxText    = 4096
)

func sendMessage(c *call) (any, *apiError) {
	if c.params.values["text"] == "" {
		return nil, badRequest("message text is empty")
	}
	text, err := c.params.formattedText("text", "parse_mode")
	if err != nil {
		return nil, err
	}
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	m := &Message{
		BotID:       c.bot.id,
		ChatID:      chatID,
		Text:        c.params.values["text"],
		VisibleText: text.text,
		ParseMode:   c.params.parseMode("parse_mode"),
		entities:    text.entities,
	}
	check := func() *apiError {
		switch {
		case text.text == "":
			return badRequest("text must be non-empty")
		case utf8.RuneCountInString(text.text) > maxText:
			return badRequest("message is too long")
		}
		return nil
	}
	return c.deliver(m, "text messages", check)
}

// deliver puts a message into its chat, when the limits let it. What is checked
// only once the chat is known to be usable comes as check.
func (c *call) deliver(m *Message, what string, check func() *apiError) (any, *apiError) {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	chat := w.chat(m.ChatID)
	restricted := "not enough rights to send " + what + " to the chat"
	if err := chat.access(restricted); err != nil {
		return nil, err
	}
	if err := check(); err != nil {
		return nil, err
	}
	now := time.Now()
	g := c.bot.limiter.decide(w.limits, m.ChatID, c.order(), now)
	if len(g.violated) > 0 {
		c.record.Violated = g.violated
		w.stats.Violations++
	}
	if g.retryAfter > 0 {
		return nil, tooManyRequests(g.retryAfter)
	}
	if g.at.After(now) {
		w.mu.Unlock()
		alive := w.sleepUntil(g.at)
		w.mu.Lock()
		if !alive {
			return nil, errAborted
		}
		if err := chat.access(restricted); err != nil { // it may have changed meanwhile
			return nil, err
		}
	}
	w.lastMessage++
	m.MessageID, m.ReceivedAt = w.lastMessage, g.at
	w.keep(m)
	return c.messageObject(m, chat), nil
}

// order is the call's place among the others; world.mu is held.
func (c *call) order() callOrder { return callOrder{c.record.CallID, c.world.lastCall} }

// messageObject is the Bot API's Message.
type messageObject struct {
	MessageID int64      `json:"message_id"`
	From      *user      `json:"from,omitempty"`
	Chat      chatObject `json:"chat"`
	Date      int64      `json:"date"`
	Text      string     `json:"text,omitempty"`
	Entities  []entity   `json:"entities,omitempty"`
}

func (c *call) messageObject(m *Message, chat *chat) messageObject {
	from := c.bot.user()
	return messageObject{
		MessageID: m.MessageID,
		From:      &from,
		Chat:      chat.object(),
		Date:      m.ReceivedAt.Unix(),
		Text:      m.VisibleText,
		Entities:  m.entities,
	}
}

// parsers read the parse modes, by lower-case name.
var parsers = map[string]struct {
	name  string
	parse func(string) (formatted, error)
}{
	"html":       {"HTML", parseHTML},
	"markdown":   {"Markdown", parseMarkdown},
	"markdownv2": {"MarkdownV2", parseMarkdownV2},
}

// parseMode is the parse mode as Telegram spells it.
func (p params) parseMode(name string) string {
	return parsers[strings.ToLower(p.values[name])].name
}

// formattedText reads a text and parses it by the parse mode given with it.
func (p params) formattedText(name, modeName string) (formatted, *apiError) {
	text := p.values[name]
	if len(text) > maxRawText {
		return formatted{}, badRequest("text is too long")
	}
	result := formatted{text: text}
	if mode := strings.ToLower(p.values[modeName]); mode != "" && mode != "none" {
		parser, known := parsers[mode]
		if !known {
			return formatted{}, badRequest("unsupported parse_mode")
		}
		var err error
		if result, err = parser.parse(text); err != nil {
			return formatted{}, badRequest("can't parse entities: %v", err)
		}
	}
	return result.normalize(), nil
}
