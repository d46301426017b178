package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"notifier/internal/telegram/sandbox"
)

// demoScript is what the demo does, and what it expects to see.
type demoScript struct {
	*program
	box    *sandbox.Sandbox
	url    string // of the service
	boxURL string // of the sandbox
	failed int    // expectations
}

// The customers of the demo.
const (
	anna  = 7900000001
	boris = 7900000002 // Telegram tells us once to wait before writing to him again
	clara = 7900000003 // has blocked the bot
)

const (
	demoWait    = 3.0 // seconds that Telegram asks for
	demoOrders  = 6
	demoTimeout = time.Minute
	demoLook    = 50 * time.Millisecond // how often the demo asks whether all is told
)

// errDemoFailed says that something did not go as it should.
var errDemoFailed = errors.New("something did not go as it should, see above")

// run places the orders, waits for their messages, and says what happened.
func (d *demoScript) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	d.say("A shop, its customers, and a Telegram that misbehaves (all on this machine):")
	d.say("  service  %s", d.url)
	d.say("  sandbox  %s", d.boxURL)
	d.say("")
	d.say("Placing %d orders, the last of them twice, and waiting until no message is on its way …", demoOrders)
	if err := d.prepare(); err != nil {
		return err
	}
	if err := d.trade(ctx); err != nil {
		return err
	}
	messages, err := d.settle(ctx)
	if err != nil {
		return err
	}
	d.report(messages)
	if d.failed > 0 {
		return errDemoFailed
	}
	d.say("All as it should be.")
	return nil
}

// prepare makes Telegram misbehave. Clara has blocked the bot without its being told: pressing Start
// on the sandbox's page brings her back.
func (d *demoScript) prepare() error {
	wait := demoWait
	_, err429 := d.box.AddFault(sandbox.Fault{
		Method: "sendMessage", ChatID: boris, Times: 1, Respond: sandbox.Respond{Status: http.StatusTooManyRequests, RetryAfter: &wait},
	})
	_, err403 := d.box.AddFault(sandbox.Fault{
		Method: "sendMessage", ChatID: clara, Times: 1,
		Respond: sandbox.Respond{Status: http.StatusForbidden, Description: "Forbidden: bot was blocked by the user"},
	})
	return errors.Join(err429, err403)
}

// trade places the orders, the last of them twice.
func (d *demoScript) trade(ctx context.Context) error {
	last := ""
	for i, o := range []struct {
		name string
		chat int64
	}{{"Anna", anna}, {"Boris", boris}, {"Clara", clara}, {"Clara", clara}, {"Anna", anna}, {"Boris", boris}} {
		last = fmt.Sprintf(`{"number":"A-%d","customer":{"id":"c-%d","name":%q,"chatId":%d},"currency":"EUR","totalCents":2500,`+
			`"items":[{"name":"Tea","quantity":2,"unitPriceCents":1250}]}`, 1001+i, o.chat, o.name, o.chat)
		if err := d.place(ctx, last, fmt.Sprintf("demo-%d", i)); err != nil {
			return err
		}
	}
	return d.place(ctx, last, fmt.Sprintf("demo-%d", demoOrders-1))
}

func (d *demoScript) place(ctx context.Context, order, key string) error {
	_, err := d.http(ctx, apiRequest{method: http.MethodPost, target: "/orders", body: json.RawMessage(order), key: key})
	return err
}

// settle waits until no message is on its way any more, and returns all of them.
func (d *demoScript) settle(ctx context.Context) ([]object, error) {
	for {
		body, err := d.http(ctx, apiRequest{method: http.MethodGet, target: "/messages?limit=500"})
		if err != nil {
			return nil, err
		}
		list, err := decode(body)
		if err != nil {
			return nil, err
		}
		messages, waiting := list.list("items"), 0
		for _, m := range messages {
			if s := m.text("state"); s == "pending" || s == "sending" {
				waiting++
			}
		}
		if waiting == 0 {
			return messages, nil
		}
		select {
		case <-time.After(demoLook):
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("after %v, %d messages are still on their way", demoTimeout, waiting)
		}
	}
}

// http asks the service as a shop would.
func (d *demoScript) http(ctx context.Context, q apiRequest) ([]byte, error) {
	r, err := q.request(ctx, d.url)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	var body bytes.Buffer
	if _, err := io.Copy(&body, response.Body); err != nil {
		return nil, err
	}
	return body.Bytes(), refusal(response.StatusCode, body.Bytes())
}

// report says what happened, and whether it is what should.
func (d *demoScript) report(messages []object) {
	states := map[string]int{}
	for _, m := range messages {
		states[m.text("state")]++
	}
	d.expect(len(messages) == demoOrders, "%d orders placed, each with its message in one transaction", demoOrders)
	d.expect(states["sent"] == 4 && d.box.Stats().Delivered == 4, "%d messages delivered, each of them once", d.box.Stats().Delivered)
	d.expect(len(messages) == demoOrders, "the last order was sent twice by the shop, with one Idempotency-Key: one order, no second message")
	d.reportWait()
	d.reportBlock(messages)
}

// reportWait looks whether the wait that Telegram asked for was kept.
func (d *demoScript) reportWait() {
	var told, next time.Time
	for _, c := range d.callsTo(boris) {
		switch {
		case c.Status == http.StatusTooManyRequests:
			told = c.AnsweredAt
		case next.IsZero() && !told.IsZero():
			next = c.ReceivedAt
		}
	}
	waited := next.Sub(told).Seconds()
	kept := !told.IsZero() && waited >= demoWait && d.box.Stats().Violations == 0
	d.expect(kept, "Telegram said 429, wait %.0f s, about Boris: his next call came after %.1f s, and the others did not wait", demoWait, waited)
}

// reportBlock looks how often the chat that has blocked the bot was called.
func (d *demoScript) reportBlock(messages []object) {
	dead := 0
	for _, m := range messages {
		if m.text("recipient") == fmt.Sprint(int64(clara)) && m.text("reason") == "chat_dead" {
			dead++
		}
	}
	calls := len(d.callsTo(clara))
	d.expect(dead == 2 && calls == 1, "Clara has blocked the bot: after %d call her chat is dead, and her second message ended without one", calls)
}

// callsTo are the messages that were sent to a chat, delivered or not.
func (d *demoScript) callsTo(chat int64) []sandbox.Call {
	var calls []sandbox.Call
	for _, c := range d.box.Calls() {
		if c.ChatID == chat && c.Method == "sendMessage" {
			calls = append(calls, c)
		}
	}
	return calls
}

func (d *demoScript) expect(ok bool, format string, args ...any) {
	mark := "ok   "
	if !ok {
		mark = "NOT  "
		d.failed++
	}
	d.say(mark+format, args...)
}
