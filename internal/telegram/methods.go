package telegram

import (
	"context"
	"encoding/json"
	"time"

	"notifier/internal/secret"
)

// allowedUpdates are the kinds of updates that are asked for. They are always named: left out, the
// setting of whoever asked last would stay, and an empty list leaves out none of the kinds that
// nobody here reads (https://core.telegram.org/bots/api#getupdates).
func allowedUpdates() []string { return []string{"message", "callback_query", "my_chat_member"} }

const (
	// MaxUpdates is how many updates one call returns at most
	// (https://core.telegram.org/bots/api#getupdates).
	MaxUpdates = 100
	// maxPoll is how long Telegram waits for the first of them at most (telegram-bot-api/Client.cpp
	// of github.com/tdlib/telegram-bot-api).
	maxPoll = 50 * time.Second

	// maxUpdatesBody is how much of an answer of getUpdates is read: a hundred updates with the
	// longest texts and a reply in each are some 4 MB.
	maxUpdatesBody = 16 << 20
	// slack is what a long poll takes besides its waiting.
	slack = 15 * time.Second
)

// GetUpdates asks for the updates from an id on, confirms those before it, and waits so long for
// the first. An offset of 0 confirms nothing and returns what is not confirmed.
func (c *Client) GetUpdates(ctx context.Context, offset int64, limit int, wait time.Duration) Reply {
	wait = min(wait, maxPoll)
	return c.Call(ctx, Request{
		Method: "getUpdates",
		Params: map[string]any{
			"offset": offset, "limit": limit, "timeout": int(wait / time.Second),
			"allowed_updates": allowedUpdates(),
		},
		Timeout: wait + slack, MaxBody: maxUpdatesBody,
	})
}

// DeleteWebhook goes back to getUpdates. Updates that wait are kept.
func (c *Client) DeleteWebhook(ctx context.Context) Reply {
	return c.Call(ctx, Request{Method: "deleteWebhook", Params: map[string]any{"drop_pending_updates": false}})
}

// SetWebhook lets Telegram send the updates to an address, each with the secret in the header
// X-Telegram-Bot-Api-Secret-Token. Updates that wait are kept.
func (c *Client) SetWebhook(ctx context.Context, address string, proof secret.Value) Reply {
	return c.Call(ctx, Request{Method: "setWebhook", Params: map[string]any{
		"url": address, "secret_token": proof.Reveal(),
		"allowed_updates": allowedUpdates(), "drop_pending_updates": false,
	}})
}

// WebhookInfo is what Telegram tells of a webhook (https://core.telegram.org/bots/api#webhookinfo).
// Its address may hold a secret of the operator's and is not for logs.
type WebhookInfo struct {
	URL                string   `json:"url"`
	PendingUpdateCount int      `json:"pending_update_count"`
	LastErrorDate      int64    `json:"last_error_date"` // seconds since 1970
	LastErrorMessage   string   `json:"last_error_message"`
	AllowedUpdates     []string `json:"allowed_updates"`
}

// WebhookInfo asks which webhook is set; its URL is empty when none is.
func (c *Client) WebhookInfo(ctx context.Context) (WebhookInfo, Reply) {
	reply := c.Call(ctx, Request{Method: "getWebhookInfo"})
	var info WebhookInfo
	_ = json.Unmarshal(reply.Result, &info) // what cannot be read is not known
	return info, reply
}

// Command is one line of the bot's menu: 1 to 32 small letters, digits and underscores, and up to
// 256 characters of description (https://core.telegram.org/bots/api#botcommand).
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// SetCommands sets the menu that private chats show to people of one language; "" is for all that
// have no menu of their own.
func (c *Client) SetCommands(ctx context.Context, language string, commands []Command) Reply {
	params := map[string]any{"commands": commands, "scope": map[string]string{"type": "all_private_chats"}}
	if language != "" {
		params["language_code"] = language
	}
	return c.Call(ctx, Request{Method: "setMyCommands", Params: params})
}

// AnswerCallback ends the waiting animation of a button that was pressed. It delivers nothing.
func (c *Client) AnswerCallback(ctx context.Context, id string) Reply {
	return c.Call(ctx, Request{Method: "answerCallbackQuery", Params: map[string]any{"callback_query_id": id},
		Timeout: min(c.timeout, slack)})
}

// ID is the bot's id: the digits before the colon of its token.
func (c *Client) ID() string { return c.credentials.botID }
