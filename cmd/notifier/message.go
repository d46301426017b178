package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

type messageListCmd struct {
	apiCommand
	State     messageState `help:"pending, sending, sent, uncertain, dead or canceled." placeholder:"STATE"`
	Reason    string       `help:"Why they ended, such as chat_dead."`
	Recipient string       `help:"A chat id, or customer:<id>."`
	Order     idArg        `help:"Messages about the order with this id." placeholder:"ID"`
	Limit     pageLimit    `help:"How many at most, up to 500." default:"50"`
	After     string       `help:"Go on after the page before."`
}

// Run lists messages.
func (c *messageListCmd) Run(ctx context.Context, p *program) error {
	query := url.Values{"limit": {strconv.Itoa(int(c.Limit))}}
	set(query, "state", string(c.State))
	set(query, "reason", c.Reason)
	set(query, "recipient", c.Recipient)
	set(query, "after", c.After)
	if c.Order != 0 {
		query.Set("orderId", strconv.FormatInt(int64(c.Order), 10))
	}
	q := apiRequest{method: http.MethodGet, target: "/messages?" + query.Encode(), options: options{
		"/query/reason": "--reason", "/query/recipient": "--recipient", "/query/after": "--after",
	}}
	return c.call(ctx, p, q, func(a object) error {
		return page(p.stdout, a, "There are no such messages.",
			"messageId", "createdAt", "orderId", "type", "recipient", "state", "reason", "detail")
	})
}

// set adds a parameter to a query unless it is empty.
func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

// messageArg is the id that most verbs about messages take.
type messageArg struct {
	ID idArg `arg:"" help:"The message's id."`
}

func (m messageArg) path(rest string) string { return fmt.Sprintf("/messages/%d%s", m.ID, rest) }

type messageShowCmd struct {
	apiCommand
	messageArg
}

// Run shows a message with its attempts.
func (c *messageShowCmd) Run(ctx context.Context, p *program) error {
	q := apiRequest{method: http.MethodGet, target: c.path("")}
	return c.call(ctx, p, q, func(a object) error {
		if err := showMessage(p, a); err != nil {
			return err
		}
		attempts := a.list("attempts")
		if len(attempts) == 0 {
			return showNoCalls(p, a)
		}
		fmt.Fprintln(p.stdout)
		return table(p.stdout, attempts, "startedAt", "durationMs", "result", "detail")
	})
}

func showMessage(p *program, a object) error {
	return fields(p.stdout, a, "messageId", "state", "reason", "detail", "recipient", "customerId", "orderId", "type",
		"payload", "failures", "createdAt", "notBefore", "expiresAt", "retryAt", "endedAt", "telegramMessageId")
}

type messageExplainCmd struct {
	apiCommand
	messageArg
}

// Run says why a message has not been sent.
func (c *messageExplainCmd) Run(ctx context.Context, p *program) error {
	q := apiRequest{method: http.MethodGet, target: c.path("/explain")}
	return c.call(ctx, p, q, func(a object) error {
		fmt.Fprintf(p.stdout, "Message %s is %s. %s\n", a.text("messageId"), a.text("state"), a.text("text"))
		if until := a.text("until"); until != "" {
			fmt.Fprintf(p.stdout, "It will move at %s.\n", until)
		}
		return nil
	})
}

type messageSendCmd struct {
	apiCommand
	Chat        chatID          `help:"To this chat (this, or --customer)." xor:"to"`
	Customer    string          `help:"To this customer's chat, as soon as there is one (this, or --chat)." xor:"to"`
	Text        string          `help:"Plain text (this, or --type)." xor:"what"`
	Type        string          `help:"A type such as OrderPaid, with --payload (these, or --text)." xor:"what"`
	Payload     jsonArg         `help:"The type's payload." placeholder:"JSON"`
	NotBefore   timeArg         `help:"Not before this time (RFC 3339)." placeholder:"TIME"`
	ExpiresAt   timeArg         `help:"Not after this time (RFC 3339)." placeholder:"TIME"`
	OnUncertain uncertainPolicy `help:"resend or hold, when Telegram may have it." placeholder:"POLICY"`
	Key         string          `help:"Idempotency-Key: makes the command safe to repeat."`
}

// Validate implements kong's hook.
func (c *messageSendCmd) Validate() error {
	switch {
	case c.Chat == 0 && c.Customer == "":
		return errors.New("--chat or --customer is needed")
	case c.Text == "" && c.Type == "":
		return errors.New("--text is needed, or --type with --payload")
	case (c.Type != "") != (len(c.Payload) > 0):
		return errors.New("--type and --payload go together")
	}
	return nil
}

// Run sends a message.
func (c *messageSendCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{}
	add := func(name, value string) {
		if value != "" {
			body[name] = value
		}
	}
	if c.Chat != 0 {
		body["chatId"] = c.Chat
	}
	if len(c.Payload) > 0 {
		body["payload"] = c.Payload
	}
	add("customerId", c.Customer)
	add("text", c.Text)
	add("type", c.Type)
	add("notBefore", string(c.NotBefore))
	add("expiresAt", string(c.ExpiresAt))
	add("onUncertain", string(c.OnUncertain))
	q := apiRequest{method: http.MethodPost, target: "/messages", body: body, key: c.Key, options: options{
		"/customerId": "--customer", "/text": "--text", "/type": "--type", "/payload": "--payload",
		"/expiresAt": "--expires-at", "/header/Idempotency-Key": "--key",
	}}
	return c.call(ctx, p, q, func(a object) error { return showMessage(p, a) })
}

type messageRetryCmd struct {
	apiCommand
	ID    idArg  `arg:"" optional:"" help:"The message's id. Or choose many with --state."`
	Force bool   `help:"Although a later message of its order was sent, or its expiresAt has passed."`
	Key   string `help:"Idempotency-Key: makes the command safe to repeat."`
	bulk
}

// Validate implements kong's hook.
func (c *messageRetryCmd) Validate() error {
	if c.ID == 0 && c.Force {
		return fmt.Errorf("--force is for one message")
	}
	return c.check(c.ID != 0, "a message", "dead", "uncertain", "canceled")
}

// Run sends one message again, or many.
func (c *messageRetryCmd) Run(ctx context.Context, p *program) error {
	if c.ID == 0 {
		return c.call(ctx, p, c.request("/messages/retry", c.Key), c.count(p, "messages", "sent again"))
	}
	q := apiRequest{method: http.MethodPost, target: messageArg{c.ID}.path("/retry"), body: map[string]any{"force": c.Force}, key: c.Key,
		options: options{"/header/Idempotency-Key": "--key"}}
	return c.call(ctx, p, q, func(a object) error { return showMessage(p, a) })
}

type messageCancelCmd struct {
	apiCommand
	messageArg
}

// Run cancels a message.
func (c *messageCancelCmd) Run(ctx context.Context, p *program) error {
	q := apiRequest{method: http.MethodPost, target: c.path("/cancel")}
	return c.call(ctx, p, q, func(a object) error { return showMessage(p, a) })
}

type messageNowCmd struct {
	apiCommand
	messageArg
}

// Run lets a message forget what it was planned for.
func (c *messageNowCmd) Run(ctx context.Context, p *program) error {
	q := apiRequest{method: http.MethodPost, target: c.path("/send-now")}
	return c.call(ctx, p, q, func(a object) error { return showMessage(p, a) })
}

// showNoCalls says why no call of a message is shown.
func showNoCalls(p *program, a object) error {
	why := "No call has been made for it."
	if erased, _ := a["erased"].(bool); erased {
		why = "Its content and its calls were erased after the retention time."
	}
	_, err := fmt.Fprintln(p.stdout, why)
	return err
}
