package main

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
)

// render gives the texts to the client in its own terms.
func (h *house) render(typ string, payload json.RawMessage) (telegram.Rendered, error) {
	t, err := h.texts.Render(typ, payload)
	if err != nil {
		return telegram.Rendered{}, err
	}
	r := telegram.Rendered{HTML: t.HTML, Plain: t.Plain}
	for _, b := range t.Buttons {
		r.Buttons = append(r.Buttons, telegram.Button(b))
	}
	return r, nil
}

// errNoToken says how to get one.
var errNoToken = errors.New("TELEGRAM_BOT_TOKEN is not set: get a token from @BotFather in Telegram and put it into .env; " +
	"to try notifier without one, run `notifier demo`")

// connect makes the client of the Bot API. It asks nobody yet.
func (h *house) connect() (*telegram.Client, error) {
	if h.Token.Reveal() == "" {
		return nil, errNoToken
	}
	client, err := telegram.New(telegram.Options{
		Token: h.ReadToken, URL: h.TelegramURL, Timeout: h.SendTimeout, Render: h.render,
	})
	if err != nil {
		return nil, &config.Error{Name: "TELEGRAM_BOT_TOKEN", Reason: err.Error()}
	}
	h.client.Store(client)
	return client, nil
}

// addSender wires the way to Telegram, out and in. It asks nobody yet.
func (h *house) addSender(accept bool) (*outbox.Dispatcher, error) {
	client, err := h.connect()
	if err != nil {
		return nil, err
	}
	limiter, err := ratelimit.New(ratelimit.Rates{Bot: h.RateBot, Chat: h.RateChat, Group: h.RateGroup})
	if err != nil {
		return nil, err
	}
	if accept {
		err := h.db.Write(context.Background(), func(tx database.Tx) error { return h.box.AcceptIdentity(tx, client.ID()) })
		if err != nil {
			return nil, err
		}
	}
	d := outbox.NewDispatcher(h.db, h.box, client, limiter, outbox.DispatcherConfig{
		Identity: client.ID(), Concurrency: h.Concurrency, BatchSize: h.BatchSize, SendTimeout: h.SendTimeout,
		Logger: h.log, Observer: h.metrics,
	})
	h.sender.Store(d)
	return d, h.addEars(client)
}

// botName is the bot's name without @, as far as Telegram has told it.
func (h *house) botName() string {
	if c := h.client.Load(); c != nil {
		return c.Username()
	}
	return ""
}

// learnName asks Telegram for the bot's name, for verbs that make addresses of it. Nobody is asked
// for another bot than the database knows.
func (h *house) learnName(ctx context.Context) error {
	client, err := h.connect()
	if err != nil {
		return err
	}
	err = h.db.Read(ctx, func(tx database.Tx) error { return h.box.CheckIdentity(tx, client.ID()) })
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
