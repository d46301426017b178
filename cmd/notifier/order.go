package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

type orderPlaceCmd struct {
	apiCommand
	Demo     bool      `help:"A sample order, to see one's own chat get it: only --chat is needed."`
	From     string    `help:"Read the whole order as JSON from this file; - is standard input." placeholder:"FILE"`
	Number   string    `help:"The shop's own number."`
	Customer string    `help:"The customer's id (required without --from)."`
	Name     string    `help:"The customer's name."`
	Locale   string    `help:"The customer's language, such as en."`
	Chat     chatID    `help:"Bind the customer to this chat."`
	Currency string    `help:"ISO 4217, such as EUR (required without --from)."`
	Total    *centsArg `help:"In the currency's minor unit: 2500 is 25.00 EUR (required without --from)." placeholder:"CENTS"`
	Item     []itemArg `help:"NAME:QUANTITY:UNIT-PRICE, such as Tea:2:1250; may be repeated." sep:"none" placeholder:"ITEM"`
	Note     string    `help:"A note for the customer."`
	Metadata jsonArg   `help:"A JSON object to keep with the order." placeholder:"JSON"`
	Key      string    `help:"Idempotency-Key: makes the command safe to repeat."`
}

// Validate implements kong's hook.
func (c *orderPlaceCmd) Validate() error {
	if c.From != "" {
		if beside := c.besideFrom(); len(beside) > 0 {
			return fmt.Errorf("--from reads the whole order: put %s into the JSON, or leave out --from", strings.Join(beside, ", "))
		}
	}
	if c.Demo && (c.From != "" || c.Chat == 0) {
		return fmt.Errorf("--demo needs --chat, the chat that is to get the message, and no --from")
	}
	if c.Demo {
		c.fillIn(time.Now())
	}
	if c.From == "" && (c.Customer == "" || c.Currency == "" || c.Total == nil) {
		return fmt.Errorf("--customer, --currency and --total are needed, or --from")
	}
	return nil
}

// besideFrom are the options that say something about the order themselves.
func (c *orderPlaceCmd) besideFrom() (given []string) {
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"--demo", c.Demo}, {"--number", c.Number != ""}, {"--customer", c.Customer != ""}, {"--name", c.Name != ""},
		{"--locale", c.Locale != ""}, {"--chat", c.Chat != 0}, {"--currency", c.Currency != ""}, {"--total", c.Total != nil},
		{"--item", len(c.Item) > 0}, {"--note", c.Note != ""}, {"--metadata", len(c.Metadata) > 0},
	} {
		if o.given {
			given = append(given, o.name)
		}
	}
	return given
}

// options say where an order comes from that was given on the command line.
func (c *orderPlaceCmd) options() options {
	if c.From != "" {
		return options{"/header/Idempotency-Key": "--key"}
	}
	return options{
		"/number": "--number", "/customer/id": "--customer", "/customer/name": "--name", "/customer/locale": "--locale",
		"/currency": "--currency", "/items": "--item", "/note": "--note", "/metadata": "--metadata", "/header/Idempotency-Key": "--key",
	}
}

// fillIn makes up what a sample order has and was not given.
func (c *orderPlaceCmd) fillIn(now time.Time) {
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&c.Number, "DEMO-"+now.UTC().Format("20060102-150405.000"))
	fill(&c.Customer, fmt.Sprintf("demo-%d", c.Chat))
	fill(&c.Name, "Anna")
	fill(&c.Currency, "EUR")
	if c.Total == nil {
		total := centsArg(2500)
		c.Total = &total
	}
	if len(c.Item) == 0 && *c.Total == 2500 {
		c.Item = []itemArg{{Name: "Tea", Quantity: 2, UnitPriceCents: 1250}}
	}
}

// Run places the order.
func (c *orderPlaceCmd) Run(ctx context.Context, p *program) error {
	body, err := c.body(p.stdin)
	if err != nil {
		return err
	}
	q := apiRequest{method: http.MethodPost, target: "/orders", body: body, key: c.Key, named: c.Chat == 0, options: c.options()}
	return c.call(ctx, p, q, func(a object) error {
		fmt.Fprintf(p.stdout, "Order %s is placed (id %s, %s).\n", name(a), a.text("orderId"), a.money())
		if connect := a.text("connectUrl"); connect != "" {
			fmt.Fprintf(p.stdout, "The customer has no chat yet and can connect one at %s\n", connect)
		}
		return table(p.stdout, a.list("messages"), "messageId", "type", "recipient", "state", "reason")
	})
}

func (c *orderPlaceCmd) body(stdin io.Reader) (any, error) {
	switch c.From {
	case "":
	case "-":
		b, err := io.ReadAll(stdin)
		return json.RawMessage(b), err
	default:
		b, err := os.ReadFile(c.From)
		return json.RawMessage(b), err
	}
	customer := map[string]any{"id": c.Customer, "name": c.Name, "locale": c.Locale}
	if c.Chat != 0 {
		customer["chatId"] = c.Chat
	}
	body := map[string]any{
		"number": c.Number, "customer": customer, "currency": c.Currency, "totalCents": c.Total, "note": c.Note,
	}
	if len(c.Item) > 0 {
		body["items"] = c.Item
	}
	if len(c.Metadata) > 0 {
		body["metadata"] = c.Metadata
	}
	return body, nil
}

// name is what people call an order.
func name(a object) string {
	if n := a.text("number"); n != "" {
		return n
	}
	return a.text("orderId")
}

type orderStatusCmd struct {
	apiCommand
	ID          idArg       `arg:"" help:"The order's id."`
	Status      orderStatus `arg:"" help:"paid, ready, shipped, delivered, canceled or refunded."`
	Note        string      `help:"A note for the customer."`
	TrackingURL string      `name:"tracking-url" help:"Where the parcel can be followed."`
	Key         string      `help:"Idempotency-Key: makes the command safe to repeat."`
}

// Run moves the order on.
func (c *orderStatusCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{"status": c.Status, "note": c.Note, "trackingUrl": c.TrackingURL}
	q := apiRequest{method: http.MethodPost, target: fmt.Sprintf("/orders/%d/status", c.ID), body: body, key: c.Key, options: options{
		"/note": "--note", "/trackingUrl": "--tracking-url", "/header/Idempotency-Key": "--key",
	}}
	return c.call(ctx, p, q, func(a object) error {
		if a["changed"] != true {
			_, err := fmt.Fprintf(p.stdout, "Order %s was %s already: nothing to tell.\n", name(a), a.text("status"))
			return err
		}
		fmt.Fprintf(p.stdout, "Order %s is %s.\n", name(a), a.text("status"))
		return table(p.stdout, a.list("messages"), "messageId", "type", "recipient", "state", "reason")
	})
}

type orderShowCmd struct {
	apiCommand
	ID idArg `arg:"" help:"The order's id."`
}

// Run shows the order.
func (c *orderShowCmd) Run(ctx context.Context, p *program) error {
	q := apiRequest{method: http.MethodGet, target: fmt.Sprintf("/orders/%d", c.ID)}
	return c.call(ctx, p, q, func(a object) error {
		fmt.Fprintln(p.stdout, printable(a.text("summary")))
		a["total"] = a.money()
		if err := fields(p.stdout, a, "orderId", "number", "status", "customerId", "total", "note", "statusNote",
			"trackingUrl", "createdAt", "updatedAt"); err != nil {
			return err
		}
		for _, section := range []struct {
			name    string
			columns []string
		}{
			{"items", []string{"name", "quantity", "unitPriceCents"}},
			{"messages", []string{"messageId", "type", "recipient", "state", "reason"}},
		} {
			if list := a.list(section.name); len(list) > 0 {
				fmt.Fprintln(p.stdout)
				if err := table(p.stdout, list, section.columns...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
