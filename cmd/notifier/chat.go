package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

type chatListCmd struct {
	asking
	State string `help:"open, doubtful or dead."`
	Limit int    `help:"How many at most." default:"50"`
	After string `help:"Go on after the page before."`
}

// Run lists chats.
func (c *chatListCmd) Run(ctx context.Context, p *program) error {
	query := url.Values{"limit": {strconv.Itoa(c.Limit)}}
	set(query, "state", c.State)
	set(query, "after", c.After)
	q := question{method: http.MethodGet, target: "/chats?" + query.Encode()}
	return c.ask(ctx, p, q, func(a answer) error {
		return page(p.stdout, a, "There are no such chats.", "chatId", "state", "reason", "since", "gateUntil", "detail")
	})
}

// chatArg is the chat that most verbs about chats take.
type chatArg struct {
	Chat chatID `arg:"" help:"The chat's id; a group's is negative."`
}

func (c chatArg) path(rest string) string { return fmt.Sprintf("/chats/%d%s", c.Chat, rest) }

func showChat(p *program) func(answer) error {
	return func(a answer) error {
		return fields(p.stdout, a, "chatId", "state", "reason", "detail", "since", "gateUntil")
	}
}

type chatShowCmd struct {
	asking
	chatArg
}

// Run shows a chat.
func (c *chatShowCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodGet, target: c.path("")}, showChat(p))
}

type chatReviveCmd struct {
	asking
	chatArg
}

// Run lets a chat be written to again.
func (c *chatReviveCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodPost, target: c.path("/revive")}, showChat(p))
}

type chatReleaseCmd struct {
	asking
	chatArg
}

// Run lifts a chat's gate.
func (c *chatReleaseCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, question{method: http.MethodPost, target: c.path("/release")}, showChat(p))
}
