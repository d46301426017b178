package main

import (
	"net/http"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

type botAPIClient struct{ bot *tgbotapi.BotAPI }

func newBotAPI() (client, error) {
	bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(token, url+"/bot%s/%s")
	return botAPIClient{bot}, err
}

func (c botAPIClient) send(chatID int64, html string) (int, error) {
	message := tgbotapi.NewMessage(chatID, html)
	message.ParseMode = tgbotapi.ModeHTML
	message.ReplyMarkup = tgbotapi.NewInlineKeyboardMarkup(tgbotapi.NewInlineKeyboardRow(tgbotapi.NewInlineKeyboardButtonData("Got it", "got:1")))
	m, err := c.bot.Send(message)
	return m.MessageID, err
}

func (c botAPIClient) edit(chatID int64, messageID int, text string) error {
	_, err := c.bot.Send(tgbotapi.NewEditMessageText(chatID, messageID, text))
	return err
}

func (c botAPIClient) reply(chatID int64, messageID int, text string) error {
	message := tgbotapi.NewMessage(chatID, text)
	message.ReplyToMessageID = messageID
	_, err := c.bot.Send(message)
	return err
}

func (c botAPIClient) album(chatID int64, urls []string) error {
	var media []any
	for _, u := range urls {
		media = append(media, tgbotapi.NewInputMediaPhoto(tgbotapi.FileURL(u)))
	}
	_, err := c.bot.SendMediaGroup(tgbotapi.NewMediaGroup(chatID, media))
	return err
}

func (c botAPIClient) remove(chatID int64, messageID int) error {
	_, err := c.bot.Request(tgbotapi.NewDeleteMessage(chatID, messageID))
	return err
}

func (c botAPIClient) poll() (func(), error) {
	updates := c.bot.GetUpdatesChan(tgbotapi.UpdateConfig{Timeout: 1})
	go func() {
		for update := range updates {
			if m := update.Message; m != nil {
				_, _ = c.bot.Send(tgbotapi.NewMessage(m.Chat.ID, "heard "+m.Text))
			}
		}
	}()
	return c.bot.StopReceivingUpdates, nil
}

func (c botAPIClient) webhook(address string) (http.Handler, error) {
	config, err := tgbotapi.NewWebhook(address)
	if err != nil {
		return nil, err
	}
	if _, err := c.bot.Request(config); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if update, err := c.bot.HandleUpdate(r); err == nil && update.Message != nil {
			_, _ = c.bot.Send(tgbotapi.NewMessage(update.Message.Chat.ID, "took "+update.Message.Text))
		}
	}), nil
}

func (c botAPIClient) getUpdates() error {
	_, err := c.bot.GetUpdates(tgbotapi.UpdateConfig{})
	return err
}
