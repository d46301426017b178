package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
	"notifier/internal/telegram/ratelimit"
	"notifier/internal/telegram/text"
)

// errNoToken says how to get one.
var errNoToken = errors.New("TELEGRAM_BOT_TOKEN is not set: get a token from @BotFather in Telegram and put it into .env; " +
	"to try notifier without one, run `notifier demo`")

// NewClient makes a client of the Bot API as the settings say. It asks nobody yet.
func NewClient(s config.Settings) (*telegram.Client, error) {
	texts, err := newTexts(s)
	if err != nil {
		return nil, err
	}
	return newClient(s, texts)
}

func newClient(s config.Settings, texts *text.Renderer) (*telegram.Client, error) {
	if s.Token.Reveal() == "" {
		return nil, errNoToken
	}
	client, err := telegram.New(telegram.Options{
		Token: s.ReadToken, URL: s.TelegramURL, Timeout: s.SendTimeout, Render: renderer(texts),
	})
	if err != nil {
		return nil, &config.Error{Name: "TELEGRAM_BOT_TOKEN", Reason: err.Error()}
	}
	return client, nil
}

// renderer gives the texts to the client in its own terms.
func renderer(texts *text.Renderer) telegram.Renderer {
	return func(typ string, payload json.RawMessage) (telegram.Rendered, error) {
		t, err := texts.Render(typ, payload)
		if err != nil {
			return telegram.Rendered{}, err
		}
		r := telegram.Rendered{HTML: t.HTML, Plain: t.Plain}
		for _, b := range t.Buttons {
			r.Buttons = append(r.Buttons, telegram.Button(b))
		}
		return r, nil
	}
}

// connect makes the client of this process.
func (a *App) connect() (*telegram.Client, error) {
	client, err := newClient(a.settings, a.texts)
	if err != nil {
		return nil, err
	}
	a.client.Store(client)
	return client, nil
}

// AddSender wires the way to Telegram, out and in. It asks nobody yet.
func (a *App) AddSender() error {
	client, err := a.connect()
	if err != nil {
		return err
	}
	limiter, err := ratelimit.New(ratelimit.Rates{Bot: a.settings.RateBot, Chat: a.settings.RateChat, Group: a.settings.RateGroup})
	if err != nil {
		return err
	}
	d := outbox.NewDispatcher(a.db, a.box, client, limiter, outbox.DispatcherConfig{
		Identity: client.ID(), Concurrency: a.settings.Concurrency, BatchSize: a.settings.BatchSize, SendTimeout: a.settings.SendTimeout,
		Logger: a.log, Observer: a.metrics, Held: a.holdsLock,
	})
	a.sender.Store(d)
	return a.addReceiver(client)
}

// acceptBot lets the database belong to the token's bot from now on. What waits was written for
// another bot's chats, so the sender is paused until a person has seen how much that is.
func (a *App) acceptBot(ctx context.Context) error {
	id := a.client.Load().ID()
	return a.db.Write(ctx, func(tx database.Tx) error {
		if err := a.box.CheckIdentity(tx, id); !errors.Is(err, outbox.ErrIdentity) {
			return err
		}
		if err := a.box.AcceptIdentity(tx, id); err != nil {
			return err
		}
		return a.box.Pause(tx, time.Now())
	})
}

// holdsLock says, with an error, that the sender's lock was lost.
func (a *App) holdsLock() error {
	if l := a.lock.Load(); l != nil {
		return l.Held()
	}
	return nil
}

// sends says whether this process has the sender's lock.
func (a *App) sends() bool { return a.lock.Load() != nil }

// botName is the bot's name without @, as far as Telegram has told it.
func (a *App) botName() string {
	if c := a.client.Load(); c != nil {
		return c.Username()
	}
	return ""
}

// LearnName asks Telegram for the bot's name, for verbs that make addresses of it. Nobody is asked
// for another bot than the database knows.
func (a *App) LearnName(ctx context.Context) error {
	client, err := a.connect()
	if err != nil {
		return err
	}
	err = a.db.Read(ctx, func(tx database.Tx) error { return a.box.CheckIdentity(tx, client.ID()) })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, nameWithin)
	defer cancel()
	if a := client.Identify(ctx); client.Username() == "" {
		return errors.New("cannot learn the bot's name: " + a.Detail)
	}
	return nil
}

// nameWithin bounds how long a verb waits for the bot's name.
const nameWithin = 5 * time.Second
