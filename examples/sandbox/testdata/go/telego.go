package main

import (
	"context"
	"net/http"
	"time"

	"github.com/mymmrac/telego"
	ta "github.com/mymmrac/telego/telegoapi"
	tu "github.com/mymmrac/telego/telegoutil"
)

type telegoClient struct{ bot *telego.Bot }

func newTelego() (client, error) {
	bot, err := telego.NewBot(token, telego.WithAPIServer(url), telego.WithDiscardLogger())
	return telegoClient{bot}, err
}

func (c telegoClient) send(chatID int64, html string) (int, error) {
	m, err := c.bot.SendMessage(context.Background(), tu.Message(tu.ID(chatID), html).WithParseMode(telego.ModeHTML).
		WithReplyMarkup(tu.InlineKeyboard(tu.InlineKeyboardRow(tu.InlineKeyboardButton("Got it").WithCallbackData("got:1")))))
	if err != nil {
		return 0, err
	}
	return m.MessageID, nil
}

func (c telegoClient) edit(chatID int64, messageID int, text string) error {
	_, err := c.bot.EditMessageText(context.Background(), &telego.EditMessageTextParams{ChatID: tu.ID(chatID), MessageID: messageID, Text: text})
	return err
}

func (c telegoClient) reply(chatID int64, messageID int, text string) error {
	_, err := c.bot.SendMessage(context.Background(), tu.Message(tu.ID(chatID), text).
		WithReplyParameters(&telego.ReplyParameters{MessageID: messageID}))
	return err
}

func (c telegoClient) album(chatID int64, urls []string) error {
	var media []telego.InputMedia
	for _, u := range urls {
		media = append(media, tu.MediaPhoto(tu.FileFromURL(u)))
	}
	_, err := c.bot.SendMediaGroup(context.Background(), tu.MediaGroup(tu.ID(chatID), media...))
	return err
}

func (c telegoClient) remove(chatID int64, messageID int) error {
	return c.bot.DeleteMessage(context.Background(), tu.Delete(tu.ID(chatID), messageID))
}

func (c telegoClient) poll() (func(), error) {
	ctx, stop := context.WithCancel(context.Background())
	updates, err := c.bot.UpdatesViaLongPolling(ctx, nil)
	if err != nil {
		stop()
		return nil, err
	}
	go func() {
		for update := range updates {
			if m := update.Message; m != nil {
				_, _ = c.bot.SendMessage(ctx, tu.Message(tu.ID(m.Chat.ID), "heard "+m.Text))
			}
		}
	}()
	return stop, nil
}

func (c telegoClient) webhook(address string) (http.Handler, error) {
	ctx, mux := context.Background(), http.NewServeMux()
	other, err := telego.NewBot(token, telego.WithAPIServer(url), telego.WithDiscardLogger())
	if err != nil {
		return nil, err
	}
	updates, err := other.UpdatesViaWebhook(ctx, telego.WebhookHTTPServeMux(mux, "POST /hook", other.SecretToken()),
		telego.WithWebhookSet(ctx, &telego.SetWebhookParams{URL: address, SecretToken: other.SecretToken()}))
	if err != nil {
		return nil, err
	}
	go func() {
		for update := range updates {
			if m := update.Message; m != nil {
				_, _ = other.SendMessage(ctx, tu.Message(tu.ID(m.Chat.ID), "took "+m.Text))
			}
		}
	}()
	return mux, nil
}

func (c telegoClient) getUpdates() error {
	_, err := c.bot.GetUpdates(context.Background(), &telego.GetUpdatesParams{})
	return err
}

func sendWithRetries(chatID int64, times int) error {
	caller := &ta.RetryCaller{
		Caller: ta.DefaultFastHTTPCaller, MaxAttempts: 5, ExponentBase: 2, StartDelay: 10 * time.Millisecond, MaxDelay: time.Second,
		RateLimit: ta.RetryRateLimitWait,
	}
	bot, err := telego.NewBot(token, telego.WithAPIServer(url), telego.WithDiscardLogger(), telego.WithAPICaller(caller))
	for range times {
		if err == nil {
			_, err = bot.SendMessage(context.Background(), tu.Message(tu.ID(chatID), "x"))
		}
	}
	return err
}
