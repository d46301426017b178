package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
)

// apiCommand is part of every verb that asks the API in this process.
type apiCommand struct {
	JSON bool `help:"Print the JSON of the HTTP API."`
}

// apiRequest is one request of a verb.
type apiRequest struct {
	method string
	target string
	body   any // any value, or json.RawMessage as it is; nil for none
	key    string
	// named: the response holds an address of the bot, for which its name must be asked. Whether that
	// is told only makes a difference to that address.
	named bool
	// options are the fields of the request that came from the command line.
	options options
}

// call asks the API and prints the response: as JSON, or as show does.
func (a apiCommand) call(ctx context.Context, p *program, q apiRequest, show func(object) error) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	service, err := p.openExisting(ctx, s, newLog(p.stderr, slog.LevelError, s.LogFormat))
	if err != nil {
		return err
	}
	defer service.Close()
	var nameless error
	if q.named {
		nameless = service.LearnName(ctx)
	}
	body, err := q.send(ctx, service.Local())
	if err != nil {
		var usage *codedError
		if errors.As(err, &usage) {
			return err // whether the bot's name is known makes no difference
		}
		return errors.Join(err, nameless)
	}
	if a.JSON {
		_, err := p.stdout.Write(body)
		return err
	}
	ans, err := decode(body)
	if err != nil {
		return err
	}
	return show(ans)
}

// send hands it to a handler and returns the response, or its refusal as an error.
func (q apiRequest) send(ctx context.Context, h http.Handler) ([]byte, error) {
	r, err := q.request(ctx, "http://localhost")
	if err != nil {
		return nil, err
	}
	w := &apiResponse{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(w, r)
	if err := q.options.misused(w.status, w.body.Bytes()); err != nil {
		return nil, err
	}
	return w.body.Bytes(), refusal(w.status, w.body.Bytes())
}

// apiResponse is a response that stays in this process.
type apiResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *apiResponse) Header() http.Header         { return w.header }
func (w *apiResponse) WriteHeader(status int)      { w.status = status }
func (w *apiResponse) Write(b []byte) (int, error) { return w.body.Write(b) }

func (q apiRequest) request(ctx context.Context, base string) (*http.Request, error) {
	var body []byte
	if raw, ok := q.body.(json.RawMessage); ok {
		body = raw
	} else if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, q.method, base+q.target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	return r, nil
}

// refusal is the error in a response that is none of success.
func refusal(status int, body []byte) error {
	if status < http.StatusBadRequest {
		return nil
	}
	var f struct {
		Detail string
		Errors []struct{ Detail, Pointer string }
	}
	if err := json.Unmarshal(body, &f); err != nil || f.Detail == "" {
		return fmt.Errorf("the API answered %d %s", status, http.StatusText(status))
	}
	if status == http.StatusNotFound {
		f.Detail += "; `notifier message list` shows messages and the orders they belong to"
	}
	for i, e := range f.Errors {
		if i > 0 { // the first is the detail itself
			f.Detail += "\n" + e.Pointer + ": " + e.Detail
		}
	}
	return fmt.Errorf("%s", f.Detail)
}
