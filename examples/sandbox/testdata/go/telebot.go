package main

import (
	"net/http"
	"strconv"
	"time"

	tele "gopkg.in/telebot.v4"
)

type telebotClient struct{ bot *tele.Bot }

func newTelebot() (client, error) {
	bot, err := tele.NewBot(tele.Settings{URL: url, Token: token, Poller: &tele.LongPoller{Timeout: time.Second}})
	return telebotClient{bot}, err
}

func (c telebotClient) send(chatID int64, html string) (int, error) {
	m, err := c.bot.Send(tele.ChatID(chatID), html, tele.ModeHTML,
		&tele.ReplyMarkup{InlineKeyboard: [][]tele.InlineButton{{{Text: "Got it", Data: "got:1"}}}})
	if err != nil {
		return 0, err
	}
	return m.ID, nil
}

func stored(chatID int64, messageID int) tele.StoredMessage {
	return tele.StoredMessage{ChatID: chatID, MessageID: strconv.Itoa(messageID)}
}

func (c telebotClient) edit(chatID int64, messageID int, text string) error {
	_, err := c.bot.Edit(stored(chatID, messageID), text)
	return err
}

func (c telebotClient) reply(chatID int64, messageID int, text string) error {
	_, err := c.bot.Send(tele.ChatID(chatID), text, &tele.SendOptions{ReplyTo: &tele.Message{ID: messageID}})
	return err
}

func (c telebotClient) album(chatID int64, urls []string) error {
	var album tele.Album
	for _, u := range urls {
		album = append(album, &tele.Photo{File: tele.FromURL(u)})
	}
	_, err := c.bot.SendAlbum(tele.ChatID(chatID), album)
	return err
}

func (c telebotClient) remove(chatID int64, messageID int) error {
	return c.bot.Delete(stored(chatID, messageID))
}

func (c telebotClient) poll() (func(), error) {
	c.bot.Handle(tele.OnText, func(context tele.Context) error { return context.Send("heard " + context.Text()) })
	go c.bot.Start()
	return c.bot.Stop, nil
}

func (c telebotClient) webhook(address string) (http.Handler, error) {
	hook := &tele.Webhook{Endpoint: &tele.WebhookEndpoint{PublicURL: address}}
	other, err := tele.NewBot(tele.Settings{URL: url, Token: token, Poller: hook})
	if err != nil {
		return nil, err
	}
	other.Handle(tele.OnText, func(context tele.Context) error { return context.Send("took " + context.Text()) })
	go other.Start() // it sets the webhook
	for {
		set, err := other.Webhook()
		if err != nil {
			return nil, err
		}
		if set.Listen == address {
			return hook, nil
		}
	}
}

func (c telebotClient) getUpdates() error {
	_, err := c.bot.Raw("getUpdates", map[string]string{})
	return err
}
