package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// webhookSender sends the updates of one bot to one webhook, one after the
// other and in order, each until it is taken. A method in the body of the
// webhook's answer is ignored.
type webhookSender struct {
	world   *world
	bot     *bot
	webhook *webhook
	client  *http.Client
}

// The times of a webhook.
const (
	webhookTimeout    = time.Minute
	firstWebhookPause = time.Second // after the second failure; the first retry comes at once
	maxWebhookPause   = time.Minute
	maxRetryAfter     = time.Hour
)

// webhookClient never follows a redirect: like any answer but 2xx it means that
// the update was not taken.
func (o Options) webhookClient() *http.Client {
	transport := o.WebhookTransport
	if transport == nil {
		transport = &http.Transport{DisableKeepAlives: true}
	}
	return &http.Client{
		Transport:     transport,
		Timeout:       webhookTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// run ends with the context.
func (s *webhookSender) run(ctx context.Context) {
	failures := 0
	for {
		next, ok := s.wait(ctx)
		if !ok {
			return
		}
		retryAfter, err := s.post(ctx, next)
		if ctx.Err() != nil {
			return
		}
		s.note(next, err)
		if err == nil {
			failures = 0
			continue
		}
		failures++
		if retryAfter == 0 {
			retryAfter = webhookPause(failures)
		}
		if !sleepUntil(ctx, time.Now().Add(retryAfter)) {
			return
		}
	}
}

// webhookPause is how long to wait after so many failures of one update.
func webhookPause(failures int) time.Duration {
	if failures < 2 {
		return 0
	}
	pause := firstWebhookPause
	for range failures - 2 {
		pause = min(2*pause, maxWebhookPause)
	}
	return pause
}

// wait gives the oldest update as soon as there is one.
func (s *webhookSender) wait(ctx context.Context) (update, bool) {
	for {
		s.world.mu.Lock()
		arrived := s.bot.arrived
		var next update
		waiting := len(s.bot.updates) > 0
		if waiting {
			next = s.bot.updates[0]
		}
		s.world.mu.Unlock()
		if ctx.Err() != nil {
			return update{}, false
		}
		if waiting {
			return next, true
		}
		select {
		case <-arrived:
		case <-ctx.Done():
		}
	}
}

// post sends one update. It may fail with the wait that the webhook asks for.
func (s *webhookSender) post(ctx context.Context, u update) (retryAfter time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.webhook.url, bytes.NewReader(u.body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.webhook.secret != "" {
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", s.webhook.secret)
	}
	response, err := s.client.Do(request)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // its content does not matter
	_, _ = io.CopyN(io.Discard, response.Body, maxBody)
	if response.StatusCode/100 == 2 {
		return 0, nil
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		retryAfter = min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	return retryAfter, telegramErrorf("Wrong response from the webhook: %s", response.Status)
}

// note forgets an update that was taken, or keeps the error.
func (s *webhookSender) note(u update, err error) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	if err == nil {
		s.bot.confirm(u.id + 1)
		return
	}
	s.webhook.lastError, s.webhook.lastErrorAt = err.Error(), time.Now()
}
