package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Limits say how much a bot may send before it is answered 429. Zero switches a
// limit off. Telegram publishes these numbers only as "about"; the sandbox
// keeps them exactly, but for Tolerance.
type Limits struct {
	// BotPerSecond is the most messages of one bot in any second, all chats
	// together.
	BotPerSecond int

	// ChatPerSecond is the sustained rate of messages to one chat; it may be a
	// fraction. It holds for groups too.
	ChatPerSecond float64

	// ChatBurst is how many messages a chat takes at once after a rest; zero
	// counts as one. Without ChatPerSecond it has no meaning.
	ChatBurst int

	// GroupPerMinute is the most messages to one group (a chat with a negative
	// id) in any minute.
	GroupPerMinute int

	// Hold is the longest wait that is slept inside the server instead of being
	// answered with a 429. The message is delivered when its turn has come.
	Hold time.Duration

	// Tolerance is how early a call may be and still be let through. Telegram does
	// not count to the millisecond. Zero means that the limits are exact.
	Tolerance time.Duration

	// Latency is slept before each call is looked at. A call counts for the
	// limits at the instant after it.
	Latency time.Duration
}

// DefaultLimits are the limits at start: 30 a second for a bot, one a second
// for a chat, 20 a minute for a group, nothing held, no latency, and 50 ms of
// tolerance.
func DefaultLimits() Limits {
	return Limits{BotPerSecond: 30, ChatPerSecond: 1, ChatBurst: 1, GroupPerMinute: 20, Tolerance: 50 * time.Millisecond}
}

// The bounds keep an interval between two messages inside time.Duration.
const (
	minChatPerSecond = 1e-3
	maxChatPerSecond = 1e6
	maxCount         = 1_000_000
	maxWait          = 24 * time.Hour
)

// validate names the first field that cannot be used.
func (l Limits) validate() error {
	rateFits := l.ChatPerSecond == 0 || l.ChatPerSecond >= minChatPerSecond && l.ChatPerSecond <= maxChatPerSecond
	switch {
	case l.BotPerSecond < 0 || l.BotPerSecond > maxCount:
		return fmt.Errorf("botPerSecond must be from 0 to %d", maxCount)
	case !rateFits:
		return errors.New("chatPerSecond must be 0 or from 0.001 to 1000000")
	case l.ChatBurst < 0 || l.ChatBurst > maxCount:
		return fmt.Errorf("chatBurst must be from 0 to %d", maxCount)
	case l.GroupPerMinute < 0 || l.GroupPerMinute > maxCount:
		return fmt.Errorf("groupPerMinute must be from 0 to %d", maxCount)
	case l.Hold < 0 || l.Hold > maxWait:
		return errors.New("hold must be from 0s to 24h")
	case l.Latency < 0 || l.Latency > maxWait:
		return errors.New("latency must be from 0s to 24h")
	case l.Tolerance < 0 || l.Tolerance > time.Minute:
		return errors.New("tolerance must be from 0s to 1m")
	}
	return nil
}

// chatInterval is the time between two messages at the sustained rate of a
// chat; zero means that the limit is off.
func (l Limits) chatInterval() time.Duration {
	if l.ChatPerSecond == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / l.ChatPerSecond)
}

// limitsJSON is the form of Limits on the wire; durations are strings.
type limitsJSON struct {
	BotPerSecond   int      `json:"botPerSecond"`
	ChatPerSecond  float64  `json:"chatPerSecond"`
	ChatBurst      int      `json:"chatBurst"`
	GroupPerMinute int      `json:"groupPerMinute"`
	Hold           duration `json:"hold"`
	Latency        duration `json:"latency"`
	Tolerance      duration `json:"tolerance"`
}

// MarshalJSON gives camelCase names and durations such as "3s".
func (l Limits) MarshalJSON() ([]byte, error) {
	return json.Marshal(limitsJSON{
		l.BotPerSecond, l.ChatPerSecond, l.ChatBurst, l.GroupPerMinute, duration(l.Hold), duration(l.Latency),
		duration(l.Tolerance),
	})
}

// UnmarshalJSON changes only the fields that are given and refuses unknown
// ones.
func (l *Limits) UnmarshalJSON(data []byte) error {
	wire := limitsJSON{
		l.BotPerSecond, l.ChatPerSecond, l.ChatBurst, l.GroupPerMinute, duration(l.Hold), duration(l.Latency),
		duration(l.Tolerance),
	}
	if err := decodeStrict(data, &wire); err != nil {
		return err
	}
	*l = Limits{
		BotPerSecond: wire.BotPerSecond, ChatPerSecond: wire.ChatPerSecond, ChatBurst: wire.ChatBurst,
		GroupPerMinute: wire.GroupPerMinute, Hold: time.Duration(wire.Hold), Latency: time.Duration(wire.Latency),
		Tolerance: time.Duration(wire.Tolerance),
	}
	return nil
}

// Limits returns the limits in force.
func (s *Sandbox) Limits() Limits {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limits
}

// SetLimits puts new limits in force for the calls that come from now on. What
// was sent before still counts. It fails, changing nothing, on a value that is
// negative or beyond reason.
func (s *Sandbox) SetLimits(limits Limits) error {
	return s.changeLimits(func(l *Limits) error { *l = limits; return nil })
}

// changeLimits applies a change to the limits in force as one step.
func (s *Sandbox) changeLimits(change func(*Limits) error) error {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	limits := w.limits
	if err := change(&limits); err != nil {
		return err
	}
	if err := limits.validate(); err != nil {
		return err
	}
	w.limits = limits
	w.note()
	return nil
}
