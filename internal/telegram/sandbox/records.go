package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Outcome is how a call ended.
type Outcome string

// The outcomes of a call.
const (
	OutcomeOpen     Outcome = "open"     // it has not ended
	OutcomeAnswered Outcome = "answered" // Status and Answer were sent
	OutcomeDropped  Outcome = "dropped"  // the connection was aborted; Answer is what was lost, if any
)

// Call is one Bot API call with its answer.
type Call struct {
	CallID     uint64            `json:"callId"` // in the order of receipt, from 1
	BotID      int64             `json:"botId"`
	Method     string            `json:"method"` // as Telegram spells it; an unknown one as it came
	ChatID     int64             `json:"chatId,omitempty"`
	Params     map[string]string `json:"params,omitempty"`
	Files      []string          `json:"files,omitempty"` // the names of those Params that were uploads
	ReceivedAt time.Time         `json:"receivedAt"`
	AnsweredAt time.Time         `json:"answeredAt,omitzero"`
	Outcome    Outcome           `json:"outcome"`
	Status     int               `json:"status,omitempty"` // of the HTTP answer
	Answer     json.RawMessage   `json:"answer,omitempty"` // a body that is not JSON is a JSON string
	FaultID    int               `json:"faultId,omitempty"`
	Violated   []string          `json:"violated,omitempty"`   // of "bot", "chat", "group": whose announced wait it ignored
	Violations []string          `json:"violations,omitempty"` // why, one sentence for each of Violated

	told *told // when the answer went out
}

// Stats are counters since New or the latest Reset.
type Stats struct {
	Calls           int `json:"calls"`           // Bot API calls received, refused and faulted ones included
	Delivered       int `json:"delivered"`       // messages
	TooManyRequests int `json:"tooManyRequests"` // calls answered 429, by the limits or by a fault
	Violations      int `json:"violations"`      // calls that came in spite of an announced wait
	MaxPerSecond    int `json:"maxPerSecond"`    // the most messages delivered in any sliding second
	OpenCalls       int `json:"openCalls"`       // calls being worked on; a poll that waits for updates is not
}

// Messages returns what was delivered, oldest first; those beyond the latest
// 200,000 (or 128 MiB of text) are forgotten.
func (s *Sandbox) Messages() []Message {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.messagesOf(0, 0)
}

// WaitMessages returns the messages delivered to a chat (zero for any) as soon
// as there is one. It returns none when the context or the sandbox ends first.
func (s *Sandbox) WaitMessages(ctx context.Context, chatID int64) []Message {
	return s.waitMessages(ctx, chatID, 0)
}

// waitMessages is WaitMessages for those with an id above after.
func (s *Sandbox) waitMessages(ctx context.Context, chatID, after int64) []Message {
	w := s.current()
	for {
		w.mu.Lock()
		found, changed := w.messagesOf(chatID, after), w.changed
		w.mu.Unlock()
		if len(found) > 0 {
			return found
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return found
		case <-w.ctx.Done():
			return found
		}
	}
}

// WaitStats returns the counters as soon as they satisfy a condition, with true;
// or those at the end, with false, when the context or the sandbox ends first.
// So a test can wait until a call hangs or so many messages were delivered.
func (s *Sandbox) WaitStats(ctx context.Context, satisfied func(Stats) bool) (Stats, bool) {
	w := s.current()
	for {
		w.mu.Lock()
		stats, changed := w.stats, w.changed
		w.mu.Unlock()
		if satisfied(stats) {
			return stats, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return stats, false
		case <-w.ctx.Done():
			return stats, false
		}
	}
}

// wake lets everyone look again who waits for something to happen; w.mu is
// held.
func (w *world) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// note tells those who follow the page, too, that there is something new; w.mu
// is held.
func (w *world) note() {
	w.changes++
	w.wake()
}

// messagesOf copies the messages of a chat, or of all for zero, with an id above
// after; w.mu is held.
func (w *world) messagesOf(chatID, after int64) []Message {
	found := []Message{}
	first, _ := w.messageIndex(after + 1)
	for _, m := range w.messages.entries[first:] {
		if chatID == 0 || m.ChatID == chatID {
			found = append(found, *m)
		}
	}
	return found
}

// Calls returns every Bot API call, oldest first; those beyond the latest
// 100,000 (or 128 MiB of parameters) are forgotten.
func (s *Sandbox) Calls() []Call {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := make([]Call, 0, len(w.calls.entries))
	for _, c := range w.calls.entries {
		calls = append(calls, *c)
	}
	return calls
}

// call finds a call by its id, unless it was forgotten.
func (s *Sandbox) call(id uint64) (Call, bool) {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.calls.entries
	i, found := slices.BinarySearchFunc(list, id, func(c *Call, id uint64) int { return cmp.Compare(c.CallID, id) })
	if !found {
		return Call{}, false
	}
	return *list[i], true
}

// Stats returns the counters.
func (s *Sandbox) Stats() Stats {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// keep records a delivered message; w.mu is held.
func (w *world) keep(m *Message) {
	w.messages.add(m, m.size())
	w.stats.Delivered++
	w.recent.add(m.ReceivedAt)
	w.stats.MaxPerSecond = max(w.stats.MaxPerSecond, w.recent.fullest(m.ReceivedAt))
	// A held message may be kept a little after its slot, so what is pruned must
	// be well out of reach.
	w.recent.prune(m.ReceivedAt.Add(-2 * time.Second))
	w.traffic.second(m.ReceivedAt).Delivered++
	c := w.chat(m.ChatID)
	c.delivered++
	if m.Keyboard != nil {
		c.keyboard = m.Keyboard
		if m.removesKeyboard {
			c.keyboard = nil
		}
	}
	w.show(c, line{author: authorBot, id: m.MessageID, message: m})
}

// size is about how many bytes a message and its line take.
func (m *Message) size() int {
	size := 1000 + len(m.Text) + len(m.ReplyMarkup) + len(m.Keyboard) + 150*len(m.entities)
	if m.VisibleText != m.Text { // else they are one text
		size += len(m.VisibleText)
	}
	return size
}

// size is about how many bytes a call takes, with an answer of the usual length
// that repeats what it said.
func (c *Call) size() int {
	size := 1200
	for name, value := range c.Params {
		size += 50 + len(name) + 2*len(value)
	}
	return size
}

// begin records that a call was received; w.mu is held.
func (w *world) begin(c *Call, at time.Time) {
	w.lastCall++
	c.CallID, c.ReceivedAt, c.Outcome = w.lastCall, at, OutcomeOpen
	w.calls.add(c, c.size())
	w.stats.Calls++
	w.stats.OpenCalls++
	w.traffic.second(at).Calls++
	w.wake()
}

// finish records how a call ended.
func (w *world) finish(c *Call, a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.note()
	w.stats.OpenCalls--
	c.AnsweredAt, c.Outcome, c.Status = w.clock.now(), OutcomeAnswered, a.status
	c.told.at = c.AnsweredAt
	switch {
	case len(a.body) == 0:
	case json.Valid(a.body):
		c.Answer = a.body
	default:
		c.Answer = encode(string(a.body))
	}
	if a.lost {
		c.Outcome = OutcomeDropped
	} else if a.status == http.StatusTooManyRequests {
		w.stats.TooManyRequests++
		w.traffic.refuse(c)
	}
	if c.ChatID != 0 && (a.lost || a.invented || a.status != http.StatusOK) {
		w.showFailure(c, a)
	}
}
