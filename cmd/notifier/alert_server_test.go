package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// alertServer is where alerts and heartbeats go.
type alertServer struct {
	t     *testing.T
	url   string
	mu    sync.Mutex
	calls map[string]int // by code; heartbeats as ""
	texts []string
	heard chan struct{}
}

func newAlertServer(t *testing.T) *alertServer {
	b := &alertServer{t: t, calls: map[string]int{}, heard: make(chan struct{}, 1)}
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

func (b *alertServer) settings() []string {
	return []string{"NOTIFIER_ALERT_URL=" + b.url + "/alert/s3cret", "NOTIFIER_HEARTBEAT_URL=" + b.url + "/beat/s3cret"}
}

func (b *alertServer) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Error(err)
	}
	var a struct{ Code string }
	if r.Method == http.MethodPost {
		if err := json.Unmarshal(text, &a); err != nil {
			b.t.Error(err)
		}
	}
	b.mu.Lock()
	b.calls[a.Code]++
	b.texts = append(b.texts, string(text))
	b.mu.Unlock()
	select {
	case b.heard <- struct{}{}:
	default:
	}
}

// await waits until an alarm was told, and says how often it was.
func (b *alertServer) await(code string) int {
	b.t.Helper()
	late := time.After(30 * time.Second)
	for {
		b.mu.Lock()
		n, all := b.calls[code], fmt.Sprint(b.calls)
		b.mu.Unlock()
		if n > 0 {
			return n
		}
		select {
		case <-b.heard:
		case <-late:
			b.t.Fatalf("no alert %q, only %s", code, all)
		}
	}
}

// clean fails the test if an alert says something that is nobody's business.
func (b *alertServer) clean(words ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, word := range words {
		if all := strings.Join(b.texts, "\n"); strings.Contains(all, word) {
			b.t.Errorf("%q is in an alert\n%s", word, all)
		}
	}
}
