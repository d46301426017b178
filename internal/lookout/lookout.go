// Package lookout tells somebody outside how the service is: one POST for each alarm when it
// begins, and a sign of life each minute while there is none.
//
// It owns when to call and whom it could not reach. It does not own what an alarm is: whoever runs
// it – the holder of the sender's lock – passes in the look that finds them. Its addresses often
// hold a token, so none of them is ever in a log.
package lookout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Alarm is something that a person should know at once. Neither field names a customer or a secret.
type Alarm struct {
	Code   string `json:"code"`   // for programs
	Detail string `json:"detail"` // for people, with what they can do
}

const (
	// lookEvery is how often alarms are looked for.
	lookEvery = 5 * time.Second
	// beatEvery is how often a sign of life is given, and an alarm repeated that nobody took.
	beatEvery = time.Minute
	// callFor bounds one call.
	callFor = 10 * time.Second
)

// Options are what a Lookout needs. Without an address its calls are left out.
type Options struct {
	AlertURL     string
	HeartbeatURL string
	// Look finds the alarms there are at present. An error counts as an alarm of its own.
	Look func(context.Context) ([]Alarm, error)
	Log  *slog.Logger
	// Transport replaces the way to the network in tests.
	Transport http.RoundTripper
}

// Lookout looks out. Only one may run for a service.
type Lookout struct {
	Options
	client *http.Client
	alarms map[string]*known // by code
	beat   time.Time         // when the last sign of life was given
	deaf   map[string]bool   // whom we could not reach the last time, as the log knows
}

// known is an alarm that is on.
type known struct {
	told  bool
	tried time.Time
}

// New returns a lookout.
func New(o Options) *Lookout {
	return &Lookout{
		Options: o, client: &http.Client{Transport: o.Transport, Timeout: callFor},
		alarms: map[string]*known{}, deaf: map[string]bool{},
	}
}

// Run looks out until ctx ends. Without any address it has nothing to do.
func (l *Lookout) Run(ctx context.Context) {
	if l.AlertURL == "" && l.HeartbeatURL == "" {
		return
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		l.look(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// look looks once and tells what is new.
func (l *Lookout) look(ctx context.Context) {
	found, err := l.Look(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		l.Log.Error("cannot look for alarms", "err", err)
		found = append(found, Alarm{"database_unreadable", "the database cannot be read; `notifier doctor` looks for the cause"})
	}
	on := map[string]bool{}
	for _, a := range found {
		on[a.Code] = true
		l.raise(ctx, a)
	}
	for code := range l.alarms {
		if !on[code] {
			delete(l.alarms, code)
			l.Log.Info("the alarm is over", "alarm", code)
		}
	}
	if now := time.Now(); len(found) == 0 && now.Sub(l.beat) >= beatEvery {
		l.beat = now
		l.call(ctx, "heartbeat", http.MethodGet, l.HeartbeatURL, nil)
	}
}

// raise tells of an alarm until it was told once.
func (l *Lookout) raise(ctx context.Context, a Alarm) {
	k := l.alarms[a.Code]
	if k == nil {
		k = &known{}
		l.alarms[a.Code] = k
		l.Log.Warn("alarm", "alarm", a.Code)
	}
	now := time.Now()
	if k.told || (!k.tried.IsZero() && now.Sub(k.tried) < beatEvery) {
		return
	}
	k.tried = now
	k.told = l.call(ctx, "alert", http.MethodPost, l.AlertURL, struct {
		Service string `json:"service"`
		Alarm
		At time.Time `json:"at"`
	}{"notifier", a, now.UTC().Truncate(time.Second)})
}

// call makes a call and says whether it was taken. That it was not is logged once, until it is again.
func (l *Lookout) call(ctx context.Context, what, method, address string, body any) bool {
	if address == "" {
		return true
	}
	err := l.do(ctx, method, address, body)
	switch {
	case err == nil && l.deaf[what]:
		l.Log.Info("the "+what+" address is reached again", "what", what)
	case err != nil && !l.deaf[what] && ctx.Err() == nil:
		l.Log.Warn("the "+what+" address cannot be reached", "err", err)
	}
	l.deaf[what] = err != nil
	return err == nil
}

func (l *Lookout) do(ctx context.Context, method, address string, body any) error {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return errors.New("it is no address") // the error would hold it
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := l.client.Do(r)
	if err != nil {
		return withoutAddress(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("it answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	return nil
}

// withoutAddress keeps of an error of a call what holds no address.
func withoutAddress(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return errors.New("no answer in time")
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return errors.New("no answer")
}
