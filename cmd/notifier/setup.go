package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"notifier/internal/app"
	"notifier/internal/config"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/secret"
	"notifier/internal/telegram"
	"notifier/internal/telegram/syntax"
)

type setupCmd struct{}

const (
	tokenTries  = 3
	setupPoll   = 25 * time.Second
	setupPatter = "Now open the chat with the bot and write anything, or press Start:\n  https://t.me/%s\n" +
		"(Or take it into the group of the shop's people, and write /start there.)\nWaiting for your message …"
)

// Run asks for what is needed and writes it down.
func (c *setupCmd) Run(ctx context.Context, p *program) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	o := &onboarding{Settings: s, dialog: newDialog(p.stdin, p.stdout)}
	if err := o.greetBot(ctx); err != nil {
		return err
	}
	defer o.client.Close()
	if err := o.findChat(ctx); err != nil {
		return err
	}
	if err := o.sendTest(ctx); err != nil {
		return err
	}
	values := map[string]string{"TELEGRAM_BOT_TOKEN": o.Token.Reveal(), "NOTIFIER_STAFF_CHAT_ID": strconv.FormatInt(o.chat, 10)}
	if s.TelegramURL != config.Defaults().TelegramURL {
		values["TELEGRAM_API_URL"] = s.TelegramURL
	}
	// A token from a file would stand against the one that is written.
	file := p.source().Name()
	if err := config.WriteFile(file, values, "TELEGRAM_BOT_TOKEN_FILE"); err != nil {
		return err
	}
	if err := makeDatabase(ctx, s); err != nil {
		return err
	}
	o.say("\nWritten to %s, readable by you alone. The chat hears of every new order from now on.", file)
	o.say("Next: `notifier doctor` checks the rest, `notifier serve` starts the service, and")
	o.say("      `notifier order place --demo --chat %d` sends you a sample order.", o.chat)
	return nil
}

// makeDatabase creates the database, so that the verbs about orders find one.
func makeDatabase(ctx context.Context, s config.Settings) error {
	a, err := app.New(ctx, s, slog.New(slog.DiscardHandler))
	if err == nil {
		a.Close()
	}
	return err
}

// onboarding is one run of setup.
type onboarding struct {
	config.Settings
	*dialog
	client *telegram.Client
	chat   int64
}

// greetBot asks for the token until Telegram takes it.
func (o *onboarding) greetBot(ctx context.Context) error {
	question := "The bot's token, as @BotFather gave it:"
	if o.Token.Reveal() != "" {
		question = "The bot's token, as @BotFather gave it (empty: the one in the settings):"
	}
	for range tokenTries {
		line, err := o.ask(ctx, question)
		if err != nil {
			return err
		}
		if line != "" {
			o.Token = secret.New(line)
		}
		refused, err := o.try(ctx)
		if err != nil {
			return err
		}
		if refused == "" {
			o.say("That is @%s.", o.client.Username())
			return nil
		}
		o.say("%s", refused)
	}
	return fmt.Errorf("no token was taken in %d tries: @BotFather shows it with /mybots, API Token", tokenTries)
}

// try says why the token is refused, or nothing when it is good.
func (o *onboarding) try(ctx context.Context) (refused string, err error) {
	if _, wrong := syntax.BotID(o.Token); wrong != nil {
		return "That is no token: " + wrong.Error() + ".", nil //nolint:nilerr // the reason is told to who typed it
	}
	if o.client, err = app.NewClient(o.WithToken(o.Token)); err != nil { // with the one that was typed
		return "", err
	}
	a := o.client.Identify(ctx)
	switch {
	case o.client.Username() != "":
		return "", nil
	case a.Verdict == outbox.BotStopped:
		return "Telegram does not take that token (" + a.Detail + "). Look for a missing character, or a token that was revoked.", nil
	}
	return "", fmt.Errorf("the Bot API cannot be reached at %s: %s\nsee that this machine may go there, or set TELEGRAM_API_URL", o.TelegramURL, a.Detail)
}

// findChat waits for a first message of the owner.
func (o *onboarding) findChat(ctx context.Context) error {
	info, reply := o.client.WebhookInfo(ctx)
	if reply.OK && info.URL != "" {
		o.say("Another program receives this bot's updates: a webhook is set%s.", atHost(info.URL))
		yes, err := o.confirm(ctx, "Remove it? What waits is kept.")
		if err != nil {
			return err
		}
		if !yes {
			return errors.New("with a webhook set, setup cannot hear your message: take another bot")
		}
		o.client.DeleteWebhook(ctx)
	}
	o.say(setupPatter, o.client.Username())
	for offset := int64(0); ; {
		reply := o.client.GetUpdates(ctx, offset, telegram.MaxUpdates, setupPoll)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !reply.OK {
			return fmt.Errorf("waiting for your message: %s\nif another program receives this bot's updates, such as `notifier serve`, end it first", reply.Detail)
		}
		var list []heard
		if err := json.Unmarshal(reply.Result, &list); err != nil {
			return errors.New("waiting for your message: the answer of Telegram cannot be read")
		}
		for _, u := range list {
			offset = max(offset, u.ID+1)
		}
		found, err := o.choose(ctx, list)
		if err != nil || found {
			return err
		}
	}
}

// atHost names the host of an address whose path may hold a secret.
func atHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return " at " + printable(u.Hostname())
}

// heard is what setup needs of an update.
type heard struct {
	ID      int64 `json:"update_id"`
	Message struct {
		Chat struct {
			ID    int64  `json:"id"`
			Title string `json:"title"`
		} `json:"chat"`
		From struct {
			FirstName string `json:"first_name"`
		} `json:"from"`
	} `json:"message"`
}

// choose asks whether the latest message is the owner's: anybody may write to a bot.
func (o *onboarding) choose(ctx context.Context, list []heard) (bool, error) {
	for i := len(list) - 1; i >= 0; i-- {
		m := list[i].Message
		if m.Chat.ID == 0 {
			continue
		}
		who := printable(m.From.FirstName)
		if m.Chat.Title != "" {
			who += " in the group " + printable(m.Chat.Title)
		}
		yes, err := o.confirm(ctx, fmt.Sprintf("%s has written (chat %d). Is that you?", who, m.Chat.ID))
		if err != nil || !yes {
			return false, err
		}
		o.chat = m.Chat.ID
		return true, nil
	}
	return false, nil
}

// sendTest sends a first message, for which nothing but the token and the chat must be right.
func (o *onboarding) sendTest(ctx context.Context) error {
	payload, err := json.Marshal(map[string]string{"text": "notifier can write to you here."})
	if err != nil {
		return err
	}
	address := strconv.FormatInt(o.chat, 10)
	letter, err := o.client.Compose(outbox.Draft{Address: address, Type: orders.TypeText, Payload: payload})
	if err != nil {
		return fmt.Errorf("write the test message: %w", err)
	}
	if a := o.client.Send(ctx, address, letter); a.Verdict != outbox.Accepted {
		return fmt.Errorf("the test message was not sent: %s", a.Detail)
	}
	o.say("A test message is sent to that chat.")
	return nil
}
