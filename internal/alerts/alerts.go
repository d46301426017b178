// Package alerts calls two addresses outside: it makes one POST for each alarm when that begins, and
// one GET, the heartbeat, each minute while there is none.
//
// It owns when to call and which address could not be reached. It does not own what an alarm is:
// whoever runs it – the holder of the sender's lock – passes in the function that finds them. The
// addresses often hold a token, so none of them is ever in a log.
package alerts

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
	// checkEvery is how often alarms are looked for.
	checkEvery = 5 * time.Second
	// beatEvery is how often the heartbeat is sent, and an alarm repeated that nobody took.
	beatEvery = time.Minute
	// callFor bounds one call.
	callFor = 10 * time.Second
)

// Options are what a Monitor needs. Without an address its calls are left out.
type Options struct {
	AlertURL     string
	HeartbeatURL string
	// Find returns the alarms there are at present.
	Find func(context.Context) []Alarm
	Log  *slog.Logger
	// transport replaces the way to the network in tests.
	transport http.RoundTripper
}

// Monitor looks for alarms and makes the calls. Only one may run for a service.
type Monitor struct {
	Options
	client *http.Client
	alarms map[string]*known // by code
	beat   time.Time         // when the last heartbeat was sent
	failed map[string]bool   // the addresses that could not be reached the last time, by name
}

// known is an alarm that is on.
type known struct {
	told  bool
	tried time.Time
}

// New returns a monitor that does not run yet.
func New(o Options) *Monitor {
	return &Monitor{
		Options: o, client: &http.Client{
			Transport: o.transport, Timeout: callFor,
			// The address often holds a secret, which is for nobody else; and a page to which somebody
			// was led has told nobody.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		alarms: map[string]*known{}, failed: map[string]bool{},
	}
}

// Run looks for alarms until ctx ends. Without any address it has nothing to do.
func (m *Monitor) Run(ctx context.Context) {
	if m.AlertURL == "" && m.HeartbeatURL == "" {
		return
	}
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		m.check(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// check looks once and tells what is new.
func (m *Monitor) check(ctx context.Context) {
	found := m.Find(ctx)
	if ctx.Err() != nil {
		return
	}
	on := map[string]bool{}
	for _, a := range found {
		on[a.Code] = true
		m.raise(ctx, a)
	}
	for code := range m.alarms {
		if !on[code] {
			delete(m.alarms, code)
			m.Log.Info("the alarm is over", "alarm", code)
		}
	}
	if now := time.Now(); len(found) == 0 && now.Sub(m.beat) >= beatEvery {
		m.beat = now
		m.call(ctx, "heartbeat", http.MethodGet, m.HeartbeatURL, nil)
	}
}

// raise tells of an alarm until it was told once.
func (m *Monitor) raise(ctx context.Context, a Alarm) {
	k := m.alarms[a.Code]
	if k == nil {
		k = &known{}
		m.alarms[a.Code] = k
		m.Log.Warn("alarm", "alarm", a.Code)
	}
	now := time.Now()
	if k.told || (!k.tried.IsZero() && now.Sub(k.tried) < beatEvery) {
		return
	}
	k.tried = now
	k.told = m.call(ctx, "alert", http.MethodPost, m.AlertURL, struct {
		Service string `json:"service"`
		Alarm
		At time.Time `json:"at"`
	}{"notifier", a, now.UTC().Truncate(time.Second)})
}

// call makes a call and says whether it was taken. That it was not is logged once, until it is again.
func (m *Monitor) call(ctx context.Context, what, method, address string, body any) bool {
	if address == "" {
		return true
	}
	err := m.do(ctx, method, address, body)
	switch {
	case err == nil && m.failed[what]:
		m.Log.Info("the "+what+" address is reached again", "what", what)
	case err != nil && !m.failed[what] && ctx.Err() == nil:
		m.Log.Warn("the "+what+" address cannot be reached", "err", err)
	}
	m.failed[what] = err != nil
	return err == nil
}

func (m *Monitor) do(ctx context.Context, method, address string, body any) error {
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
	response, err := m.client.Do(r)
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
