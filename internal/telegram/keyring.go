package telegram

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"notifier/internal/secret"
	"notifier/internal/telegram/syntax"

	"github.com/go-telegram/bot"
)

// key is a token and the library's bot that was made for it. The library cannot change its token
// while it is in use, so a new token gets a new key.
type key struct {
	token secret.Value
	bot   *bot.Bot
}

// keyring keeps the key in use and asks for the token again when Telegram has refused it.
type keyring struct {
	read  func() (secret.Value, error)
	base  string
	recorder  *httpRecorder
	botID string

	mu    sync.Mutex
	inUse *key
	stale bool
}

func newKeyring(read func() (secret.Value, error), base string, s *httpRecorder) (*keyring, error) {
	token, err := read()
	if err != nil {
		return nil, fmt.Errorf("read the bot token: %w", err)
	}
	id, err := syntax.BotID(token)
	if err != nil {
		return nil, err
	}
	k := &keyring{read: read, base: base, recorder: s, botID: id}
	k.inUse, err = k.cut(token)
	return k, err
}

// cut makes a key for a token.
func (k *keyring) cut(token secret.Value) (*key, error) {
	b, err := bot.New(token.Reveal(),
		bot.WithServerURL(k.base),
		bot.WithSkipGetMe(), // nobody is asked before the database knows which bot this is
		bot.WithHTTPClient(time.Minute, k.recorder),
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
func (k *keyring) current() (*key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stale {
		return k.inUse, nil
	}
	token, err := k.read()
	if err != nil {
		return nil, errTokenUnreadable
	}
	if token == k.inUse.token {
		k.stale = false
		return k.inUse, nil
	}
	id, err := syntax.BotID(token)
	if err != nil {
		return nil, errTokenUnreadable
	}
	if id != k.botID {
		return nil, errOtherBot
	}
	fresh, err := k.cut(token)
	if err != nil {
		return nil, err
	}
	k.inUse, k.stale = fresh, false
	return fresh, nil
}

// refused notes that Telegram does not take this key, unless another one is in use already.
func (k *keyring) refused(used *key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stale = k.stale || used == k.inUse
}
