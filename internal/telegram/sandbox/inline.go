package sandbox

import (
	"encoding/json"
	"strconv"
	"time"
)

// inlineQuery is a query that a bot may answer.
type inlineQuery struct {
	bot    *bot
	chatID int64
	at     time.Time
}

// Query makes the customer type a text after a bot's name, to that bot. What it
// offers is shown in the chat.
func (s *Sandbox) Query(chatID, botID int64, text string) error {
	return s.act(chatID, func(w *world, c *chat) error {
		b, known := w.bots[botID]
		if botID == 0 && len(w.bots) == 1 {
			for _, b = range w.bots {
				known = true
			}
		}
		if !known {
			return impossible("there is no bot %d", botID)
		}
		id := strconv.FormatInt(w.dice.Int64(), 10)
		w.inline.put(id, inlineQuery{b, chatID, w.clock.now()})
		w.enqueue(b, updateInline, map[string]any{
			"id": id, "from": c.customer(), "query": text, "offset": "", "chat_type": c.kind(),
		}, w.clock.now())
		return nil
	})
}

// maxResults is how many results an inline query can have.
const maxResults = 50

// answerInlineQuery offers results.
func answerInlineQuery(c *call) (any, *apiError) {
	titles, err := readResults(c.params.values["results"])
	if err != nil {
		return nil, telegramRefusal(err)
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	query, known := w.inline.take(c.params.values["inline_query_id"])
	if !known || query.bot != c.bot || w.clock.now().Sub(query.at) > callbackLifetime {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	w.notice(w.chat(query.chatID), "The bot offers "+strconv.Itoa(len(titles))+" results.")
	return true, nil
}

// readResults checks what every result has.
func readResults(text string) ([]string, error) {
	var list []json.RawMessage
	if !json.Valid([]byte(text)) {
		return nil, telegramError("Can't parse results JSON object")
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, telegramError("Expected an Array of inline query results")
	}
	if len(list) > maxResults {
		return nil, telegramError("Too many inline query results specified")
	}
	var ids []string
	for _, raw := range list {
		object, err := parseObject(raw)
		if err != nil {
			return nil, telegramError("Can't parse inline query result: Inline query result must be an object")
		}
		id, err := object.requiredText("id")
		if err == nil {
			_, err = object.requiredText("type")
		}
		if err != nil {
			return nil, telegramErrorf("Can't parse inline query result: %v", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// pending are things that wait for a bot, by id; the oldest go when there are
// too many.
type pending[T any] struct {
	things map[string]T
	order  []string
}

func (p *pending[T]) put(id string, thing T) {
	if p.things == nil {
		p.things = map[string]T{}
	}
	p.things[id] = thing
	if p.order = append(p.order, id); len(p.order) > maxCallbacks {
		delete(p.things, p.order[0])
		p.order = p.order[1:]
	}
}

// take gives something up to the one who asks for it.
func (p *pending[T]) take(id string) (T, bool) {
	thing, known := p.things[id]
	delete(p.things, id)
	return thing, known
}
