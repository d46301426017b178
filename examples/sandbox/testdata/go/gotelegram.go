package main

import (
	"context"
	"net/http"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

type goTelegramClient struct{ bot *bot.Bot }

func newGoTelegram() (client, error) {
	b, err := bot.New(token, bot.WithServerURL(url))
	return goTelegramClient{b}, err
}

func (c goTelegramClient) send(chatID int64, html string) (int, error) {
	m, err := c.bot.SendMessage(context.Background(), &bot.SendMessageParams{ChatID: chatID, Text: html, ParseMode: models.ParseModeHTML,
		ReplyMarkup: &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: "Got it", CallbackData: "got:1"}}}}})
	if err != nil {
		return 0, err
	}
	return m.ID, nil
}

func (c goTelegramClient) edit(chatID int64, messageID int, text string) error {
	_, err := c.bot.EditMessageText(context.Background(), &bot.EditMessageTextParams{ChatID: chatID, MessageID: messageID, Text: text})
	return err
}

func (c goTelegramClient) reply(chatID int64, messageID int, text string) error {
	_, err := c.bot.SendMessage(context.Background(), &bot.SendMessageParams{ChatID: chatID, Text: text,
		ReplyParameters: &models.ReplyParameters{MessageID: messageID}})
	return err
}

func (c goTelegramClient) album(chatID int64, urls []string) error {
	var media []models.InputMedia
	for _, u := range urls {
		media = append(media, &models.InputMediaPhoto{Media: u})
	}
	_, err := c.bot.SendMediaGroup(context.Background(), &bot.SendMediaGroupParams{ChatID: chatID, Media: media})
	return err
}

func (c goTelegramClient) remove(chatID int64, messageID int) error {
	_, err := c.bot.DeleteMessage(context.Background(), &bot.DeleteMessageParams{ChatID: chatID, MessageID: messageID})
	return err
}

// answering makes a bot that answers texts with a word before them.
func answering(word string) (*bot.Bot, error) {
	return bot.New(token, bot.WithServerURL(url), bot.WithDefaultHandler(func(ctx context.Context, b *bot.Bot, update *models.Update) {
		if m := update.Message; m != nil {
			_, _ = b.SendMessage(ctx, &bot.SendMessageParams{ChatID: m.Chat.ID, Text: word + " " + m.Text})
		}
	}))
}

func (c goTelegramClient) poll() (func(), error) {
	b, err := answering("heard")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	go b.Start(ctx)
	return stop, nil
}

func (c goTelegramClient) webhook(address string) (http.Handler, error) {
	b, err := answering("took")
	if err != nil {
		return nil, err
	}
	if _, err := b.SetWebhook(context.Background(), &bot.SetWebhookParams{URL: address}); err != nil {
		return nil, err
	}
	go b.StartWebhook(context.Background())
	return b.WebhookHandler(), nil
}

// getUpdates polls once: the library has no such call, so it is asked what it
// says when another poller is refused.
func (c goTelegramClient) getUpdates() error {
	refused := make(chan error, 1)
	b, err := bot.New(token, bot.WithServerURL(url), bot.WithErrorsHandler(func(err error) {
		select {
		case refused <- err:
		default:
		}
	}))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go b.Start(ctx)
	return <-refused
}
