package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"notifier/internal/outbox"
)

// Request is a call of a Bot API method that the library does not offer, or not as we need it.
type Request struct {
	Method string // as Telegram spells it
	// Params marshal to JSON (https://core.telegram.org/bots/api#making-requests).
	Params map[string]any
	// Timeout bounds the call; 0: the client's.
	Timeout time.Duration
	// MaxBody is how much of the answer is read, in bytes; 0: 64 KiB.
	MaxBody int
}

// Reply is what came of a Request.
type Reply struct {
	// Answer is the verdict, as for a message. Its words hold no secret.
	outbox.CallResult
	// Code is Telegram's error_code, or the HTTP status; 0 when no answer came.
	Code int
	// Result is the "result" of an answer that was granted, when the answer is whole.
	Result json.RawMessage
	// Body is what was read of the answer, and TooLong says that there was more than MaxBody.
	Body    []byte
	TooLong bool
}

// withoutNumber is how long a method waits that was told to and not for how long.
const withoutNumber = 5 * time.Second

// Waits is how long this method must not be called, after a 429; else 0.
func (r Reply) Waits() time.Duration {
	switch {
	case r.Verdict != outbox.Wait:
		return 0
	case r.Wait <= 0:
		return withoutNumber
	}
	return r.Wait
}

// Stopped says that Telegram refused the bot altogether: the token is not good.
func (r Reply) Stopped() bool { return r.Verdict == outbox.BotStopped }

// Call makes exactly one call, with the same care for the token as all others.
func (c *Client) Call(ctx context.Context, r Request) Reply {
	key, err := c.credentials.current()
	if err != nil {
		return Reply{CallResult: outbox.CallResult{Verdict: outbox.BotStopped, Detail: short(err.Error())}}
	}
	timeout := r.Timeout
	if timeout == 0 {
		timeout = c.timeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	x, ctx := newExchange(ctx)
	if r.MaxBody > 0 {
		x.limit = r.MaxBody
	}
	if req, err := c.request(ctx, key, r); err == nil { // its error would hold the address
		if resp, err := c.recorder.Do(req); err == nil {
			_ = resp.Body.Close() // it is in the facts
		}
	}
	answer, facts := c.judge(x, key)
	reply := Reply{CallResult: answer, Body: facts.Body, TooLong: facts.TooLong}
	read := read(facts)
	reply.Code = read.code
	if answer.OK {
		reply.Result = read.result
	}
	return reply
}

func (c *Client) request(ctx context.Context, k *key, r Request) (*http.Request, error) {
	params := r.Params
	if params == nil {
		params = map[string]any{}
	}
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	address := c.credentials.base + "/bot" + k.token.Reveal() + "/" + r.Method
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}
