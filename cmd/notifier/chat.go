package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

type chatListCmd struct {
	apiCommand
	State chatState `help:"open, doubtful or dead." placeholder:"STATE"`
	Limit pageLimit `help:"How many at most, up to 500." default:"50"`
	After string    `help:"Go on after the page before."`
}

// Run lists chats.
func (c *chatListCmd) Run(ctx context.Context, p *program) error {
	query := url.Values{"limit": {strconv.Itoa(int(c.Limit))}}
	set(query, "state", string(c.State))
	set(query, "after", c.After)
	q := apiRequest{method: http.MethodGet, target: "/chats?" + query.Encode(), options: options{"/query/after": "--after"}}
	return c.call(ctx, p, q, func(a object) error {
		return page(p.stdout, a, "There are no such chats.", "chatId", "state", "reason", "since", "gateUntil", "detail")
	})
}

// chatArg is the chat that most verbs about chats take.
type chatArg struct {
	Chat chatID `arg:"" help:"The chat's id; a group's is negative."`
}

func (c chatArg) path(rest string) string { return fmt.Sprintf("/chats/%d%s", c.Chat, rest) }

func showChat(p *program) func(object) error {
	return func(a object) error {
		return fields(p.stdout, a, "chatId", "state", "reason", "detail", "since", "gateUntil")
	}
}

type chatShowCmd struct {
	apiCommand
	chatArg
}

// Run shows a chat.
func (c *chatShowCmd) Run(ctx context.Context, p *program) error {
	return c.call(ctx, p, apiRequest{method: http.MethodGet, target: c.path("")}, showChat(p))
}

type chatLinkCmd struct {
	apiCommand
	Customer string `arg:"" help:"The customer's id; a new one is created."`
}

// Run makes an address behind which a customer connects their chat.
func (c *chatLinkCmd) Run(ctx context.Context, p *program) error {
	q := apiRequest{method: http.MethodPost, target: "/customers/" + url.PathEscape(c.Customer) + "/link", named: true,
		options: options{"/path/customerId": "the customer's id"}}
	return c.call(ctx, p, q, func(a object) error {
		_, err := fmt.Fprintf(p.stdout, "%s\nGood for one use, until %s.\n", a.text("connectUrl"), a.text("expiresAt"))
		return err
	})
}

type chatReviveCmd struct {
	apiCommand
	Chat chatID `arg:"" optional:"" help:"The chat's id; a group's is negative. Or choose many with --state."`
	bulk
}

// Validate implements kong's hook.
func (c *chatReviveCmd) Validate() error { return c.check(c.Chat != 0, "a chat", "dead", "doubtful") }

// Run lets one chat be written to again, or many.
func (c *chatReviveCmd) Run(ctx context.Context, p *program) error {
	if c.Chat == 0 {
		return c.call(ctx, p, c.request("/chats/revive", ""), c.count(p, "chats", "revived"))
	}
	return c.call(ctx, p, apiRequest{method: http.MethodPost, target: chatArg{c.Chat}.path("/revive")}, showChat(p))
}

type chatReleaseCmd struct {
	apiCommand
	chatArg
}

// Run lifts a chat's gate.
func (c *chatReleaseCmd) Run(ctx context.Context, p *program) error {
	return c.call(ctx, p, apiRequest{method: http.MethodPost, target: c.path("/release")}, showChat(p))
}
