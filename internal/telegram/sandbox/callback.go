package sandbox

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// callback is a callback query that a bot may answer.
type callback struct {
	chatID int64
	at     time.Time
}

// pressed publishes that the customer pressed a button of a message, to the bot
// that sent it; w.mu is held.
func (w *world) pressed(c *chat, m *Message, data string) {
	id := fmt.Sprint(w.dice.Int64())
	now := w.clock.now()
	w.callbacks[id] = callback{chatID: c.id, at: now}
	w.queries.add(id, 1)
	w.notice(c, fmt.Sprintf("The customer pressed %q.", data))
	w.enqueue(w.bot(m.BotID), updateCallback, map[string]any{
		"id":            id,
		"from":          c.customer(),
		"message":       w.object(m),
		"chat_instance": fmt.Sprint(c.id),
		"data":          data,
	}, now)
}

// The bounds of callback queries.
const (
	callbackLifetime = 15 * time.Minute // Telegram's own is unpublished
	maxCallbackText  = 200
)

// answerCallbackQuery ends the waiting animation of a button.
func answerCallbackQuery(c *call) (any, *apiError) {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.now()
	for id, query := range w.callbacks {
		if now.Sub(query.at) >= callbackLifetime {
			delete(w.callbacks, id)
		}
	}
	query, known := w.callbacks[c.params.values["callback_query_id"]]
	if !known {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	text := c.params.values["text"]
	if utf8.RuneCountInString(text) > maxCallbackText {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	if text != "" {
		w.notice(w.chat(query.chatID), "The bot answered: "+text)
	}
	return true, nil
}
