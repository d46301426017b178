package telegram

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-telegram/bot"

	"notifier/internal/secret"
	"notifier/internal/telegram/syntax"
)

// key is a token and the library's bot that was made for it. The library cannot change its token
// while it is in use, so a new token gets a new key.
type key struct {
	token secret.Value
	bot   *bot.Bot
}

// credentials keeps the key in use and asks for the token again when Telegram has refused it.
type credentials struct {
	read     func() (secret.Value, error)
	base     string
	recorder *httpRecorder
	botID    string

	mu    sync.Mutex
	inUse *key
	stale bool
}

func newCredentials(read func() (secret.Value, error), base string, s *httpRecorder) (*credentials, error) {
	token, err := read()
	if err != nil {
		return nil, fmt.Errorf("read the bot token: %w", err)
	}
	id, err := syntax.BotID(token)
	if err != nil {
		return nil, err
	}
	c := &credentials{read: read, base: base, recorder: s, botID: id}
	c.inUse, err = c.newKey(token)
	return c, err
}

// newKey makes a key for a token.
func (c *credentials) newKey(token secret.Value) (*key, error) {
	b, err := bot.New(token.Reveal(),
		bot.WithServerURL(c.base),
		bot.WithSkipGetMe(), // nobody is asked before the database knows which bot this is
		bot.WithHTTPClient(time.Minute, c.recorder),
		bot.WithErrorsHandler(func(error) {}),
	)
	if err != nil {
		return nil, errors.New("the bot token was not taken by the library")
	}
	return &key{token: token, bot: b}, nil
}

var (
	errTokenUnreadable = errors.New("the token was refused, and reading it again failed")
	errOtherBot        = errors.New("the token was refused, and the new one belongs to another bot: restart with --accept-new-bot")
)

// current is the key for the next call. A refused token is read again first; a new one that
// belongs to another bot is never used, because the chats we know are not that bot's.
func (c *credentials) current() (*key, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stale {
		return c.inUse, nil
	}
	token, err := c.read()
	if err != nil {
		return nil, errTokenUnreadable
	}
	if token == c.inUse.token {
		c.stale = false
		return c.inUse, nil
	}
	id, err := syntax.BotID(token)
	if err != nil {
		return nil, errTokenUnreadable
	}
	if id != c.botID {
		return nil, errOtherBot
	}
	fresh, err := c.newKey(token)
	if err != nil {
		return nil, err
	}
	c.inUse, c.stale = fresh, false
	return fresh, nil
}

// refused notes that Telegram does not take this key, unless another one is in use already.
func (c *credentials) refused(used *key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = c.stale || used == c.inUse
}
