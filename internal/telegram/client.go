package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"notifier/internal/outbox"
	"notifier/internal/secret"
)

// DefaultURL is the public Bot API (https://core.telegram.org/bots/api#making-requests).
const DefaultURL = "https://api.telegram.org"

// Options are what a Client needs.
type Options struct {
	// Token gives the bot token. It is asked once at the start, and again before the first call
	// after an answer that refused the token, so that a new one can be put in place while running.
	Token func() (secret.Value, error)
	// URL is where the Bot API is, without the token; empty: DefaultURL.
	URL string
	// Timeout bounds one call, connecting included. It must be positive. The Bot API server holds
	// back a message for 8 s and more before it refuses it, so a short one makes duplicates.
	Timeout time.Duration
	// Render turns a stored message into its text.
	Render Renderer
	// Transport replaces our own way to the network; nil keeps it. One that reports no connections
	// through net/http/httptrace should return a *NotWrittenError, or a *net.OpError of a dial,
	// where nothing has left: any other error counts as a message that may have been sent.
	Transport http.RoundTripper
}

// Client speaks to the Bot API for one bot. It implements outbox.Sender, and its methods may be
// called side by side.
type Client struct {
	credentials *credentials
	recorder    *httpRecorder
	timeout     time.Duration
	render      Renderer
	username    atomic.Pointer[string]
}

var _ outbox.Sender = (*Client)(nil)

// New checks the options and makes a client; it asks nobody. Its errors never hold the token.
func New(o Options) (*Client, error) {
	if o.Timeout <= 0 {
		return nil, errors.New("the timeout of a call must be positive")
	}
	if o.Token == nil || o.Render == nil {
		return nil, errors.New("a token and a renderer are needed")
	}
	base, err := baseURL(o.URL)
	if err != nil {
		return nil, err
	}
	s := newHTTPRecorder(o.Transport)
	k, err := newCredentials(o.Token, base, s)
	if err != nil {
		return nil, err
	}
	return &Client{credentials: k, recorder: s, timeout: o.Timeout, render: o.Render}, nil
}

func baseURL(text string) (string, error) {
	if text == "" {
		return DefaultURL, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the Bot API address must be http://host[:port] or https://host[:port]")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Send makes exactly one call of sendMessage for a message that Compose made.
func (c *Client) Send(ctx context.Context, address string, l outbox.Composed) outbox.CallResult {
	m, ok := l.(*composed)
	if !ok {
		return outbox.CallResult{Verdict: outbox.Rejected, Detail: fmt.Sprintf("not composed for Telegram: %T", l)}
	}
	answer, _ := c.call(ctx, func(ctx context.Context, b *bot.Bot) error {
		_, err := b.SendMessage(ctx, m.params(address))
		return err
	})
	return answer
}

// Identify asks for the bot's own account (getMe) and remembers its name. A yes shows that the
// token is good and the Bot API server is there, and nothing of Telegram behind it.
func (c *Client) Identify(ctx context.Context) outbox.CallResult {
	answer, facts := c.call(ctx, func(ctx context.Context, b *bot.Bot) error {
		_, err := b.GetMe(ctx)
		return err
	})
	if name := usernameIn(facts.Body); answer.OK && name != "" {
		c.username.Store(&name)
	}
	return asIdentity(answer)
}

// asIdentity: an answer that refuses the token is no sign that the bot is alive.
func asIdentity(a outbox.CallResult) outbox.CallResult {
	a.Answered = a.Answered && a.Verdict != outbox.BotStopped
	return a
}

// Username is the bot's name without @, or empty as long as no Identify was granted.
func (c *Client) Username() string {
	if name := c.username.Load(); name != nil {
		return *name
	}
	return ""
}

// Touch shows a chat that the bot is typing (sendChatAction). It leaves no message there, but the
// answer comes from Telegram behind the Bot API server.
func (c *Client) Touch(ctx context.Context, address string) outbox.CallResult {
	answer, _ := c.call(ctx, func(ctx context.Context, b *bot.Bot) error {
		_, err := b.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: address, Action: models.ChatActionTyping})
		return err
	})
	return answer
}

// Close drops the idle connections. Calls in flight are not disturbed.
func (c *Client) Close() { c.recorder.client.CloseIdleConnections() }

// call makes one call through the library and judges it by its facts alone: the library's own
// error hides status and headers, and can be one although the message was taken.
func (c *Client) call(ctx context.Context, do func(context.Context, *bot.Bot) error) (outbox.CallResult, Facts) {
	key, err := c.credentials.current()
	if err != nil {
		return outbox.CallResult{Verdict: outbox.BotStopped, Detail: short(err.Error())}, Facts{}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	x, ctx := newExchange(ctx)
	_ = do(ctx, key.bot)
	return c.judge(x, key)
}

// judge is what a call with this key came to.
func (c *Client) judge(x *exchange, used *key) (outbox.CallResult, Facts) {
	facts, reached := x.result()
	if !reached {
		return outbox.CallResult{Verdict: outbox.Failed, Detail: "the request could not be built"}, Facts{}
	}
	answer := classify(facts)
	answer.Detail = used.token.Scrub(answer.Detail)
	if answer.Verdict == outbox.BotStopped {
		c.credentials.refused(used)
	}
	return answer, facts
}

func usernameIn(body []byte) string {
	var me struct {
		Result struct {
			Username string `json:"username"`
		} `json:"result"`
	}
	_ = json.Unmarshal(body, &me)
	return me.Result.Username
}
