package main

import (
	"net/http"
	"strconv"
	"time"

	tele "gopkg.in/telebot.v3"
)

type telebot3Client struct{ bot *tele.Bot }

func newTelebot3() (client, error) {
	bot, err := tele.NewBot(tele.Settings{URL: url, Token: token, Poller: &tele.LongPoller{Timeout: time.Second}})
	return telebot3Client{bot}, err
}

func (c telebot3Client) send(chatID int64, html string) (int, error) {
	m, err := c.bot.Send(tele.ChatID(chatID), html, tele.ModeHTML,
		&tele.ReplyMarkup{InlineKeyboard: [][]tele.InlineButton{{{Text: "Got it", Data: "got:1"}}}})
	if err != nil {
		return 0, err
	}
	return m.ID, nil
}

func stored3(chatID int64, messageID int) tele.StoredMessage {
	return tele.StoredMessage{ChatID: chatID, MessageID: strconv.Itoa(messageID)}
}

func (c telebot3Client) edit(chatID int64, messageID int, text string) error {
	_, err := c.bot.Edit(stored3(chatID, messageID), text)
	return err
}

func (c telebot3Client) reply(chatID int64, messageID int, text string) error {
	_, err := c.bot.Send(tele.ChatID(chatID), text, &tele.SendOptions{ReplyTo: &tele.Message{ID: messageID}})
	return err
}

func (c telebot3Client) album(chatID int64, urls []string) error {
	var album tele.Album
	for _, u := range urls {
		album = append(album, &tele.Photo{File: tele.FromURL(u)})
	}
	_, err := c.bot.SendAlbum(tele.ChatID(chatID), album)
	return err
}

func (c telebot3Client) remove(chatID int64, messageID int) error {
	return c.bot.Delete(stored3(chatID, messageID))
}

func (c telebot3Client) poll() (func(), error) {
	c.bot.Handle(tele.OnText, func(context tele.Context) error { return context.Send("heard " + context.Text()) })
	go c.bot.Start()
	return c.bot.Stop, nil
}

func (c telebot3Client) webhook(address string) (http.Handler, error) {
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

func (c telebot3Client) getUpdates() error {
	_, err := c.bot.Raw("getUpdates", map[string]string{})
	return err
}
