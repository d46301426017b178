// Package httpapi owns the HTTP API: its routes, its JSON, what it refuses, and the transaction of
// each request. A request that changes something is one write; after its commit the sender is woken.
//
// It decides nothing about orders or messages: the packages orders and outbox do, inside the
// transaction they are handed. The commands of cmd/notifier call [API.Local] in process, so that
// there is one implementation and one JSON.
package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// Config is what an API works with. DB, Outbox and Orders are needed; the rest has defaults.
type Config struct {
	DB     *database.DB
	Outbox *outbox.Outbox
	Orders *orders.Book

	// Key is asked of every request but those to exempt paths. Without one, only requests that
	// come directly from this machine are served.
	Key     string
	Version string
	Log     *slog.Logger
	Now     func() time.Time

	// Wake is called after every commit of ours: there may be something to send.
	Wake func()
	// BotName is the bot's name without @; empty as long as it is not known.
	BotName func() string
	// CheckText says why a message of this type and payload could never be sent, or nil. A
	// *ContentError names the field.
	CheckText func(typ string, payload json.RawMessage) error
	// Problems says what is wrong at present, besides what the API finds itself.
	Problems func(context.Context) []Problem
	// Metrics receives what the API counts; Gather is what /metrics shows.
	Metrics *Metrics
	Gather  prometheus.Gatherer
}

// Problem is something that is wrong with the service, in words for its owner.
type Problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// API is the HTTP API. It serves with [API.ServeHTTP].
type API struct {
	Config
	mux      *http.ServeMux
	huma     huma.API
	guard    guard
	ready    *readiness
	patience time.Duration // how long a request waits for its turn to write
	// webhook takes what Telegram sends; nil: nothing is mounted.
	webhook http.Handler
	// webhookPaths are where it answers.
	webhookPaths []string
}

// MountWebhook lets h answer at the paths. It has a guard and limits of its own, and must be mounted
// before the API serves.
func (a *API) MountWebhook(h http.Handler, paths ...string) { a.webhook, a.webhookPaths = h, paths }

// patience is how long a request waits for its turn; whoever is in front may itself wait
// for another process's lock, as long as the database allows.
const patience = 15 * time.Second

// New returns an API.
func New(c Config) *API {
	c = c.withDefaults()
	a := &API{Config: c, mux: http.NewServeMux(), guard: newGuard(c.Key), ready: newReadiness(), patience: patience}
	a.huma = newHuma(a.mux, c.Version)
	a.registerOrders()
	a.registerMessages()
	a.registerChats()
	a.registerCustomers()
	a.registerSender()
	a.registerHealth()
	a.registerDescription()
	return a
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wake == nil {
		c.Wake = func() {}
	}
	if c.BotName == nil {
		c.BotName = func() string { return "" }
	}
	if c.CheckText == nil {
		c.CheckText = func(string, json.RawMessage) error { return nil }
	}
	if c.Problems == nil {
		c.Problems = func(context.Context) []Problem { return nil }
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	if c.Gather == nil {
		c.Gather = prometheus.NewRegistry()
	}
	return c
}

// ServeHTTP serves requests from outside: they are asked for the key first.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer a.recoverPanic(w, r)
	if slices.Contains(a.webhookPaths, r.URL.Path) {
		a.webhook.ServeHTTP(w, r)
		return
	}
	if f := a.guard.refuse(r); f != nil {
		f.write(w)
		return
	}
	a.serve(w, r)
}

// Local serves requests that this process makes itself, without asking for a key.
func (a *API) Local() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recoverPanic(w, r)
		a.serve(w, r)
	})
}

// serve finds the route before anything is read, and checks what it reads before it goes on.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if f := checkURL(r); f != nil {
		f.write(w)
		return
	}
	if f := a.noRoute(w, r); f != nil {
		f.write(w)
		return
	}
	r, f := readRequest(w, r)
	if f != nil {
		f.write(w)
		return
	}
	d := newDraft(w)
	a.mux.ServeHTTP(d, r)
	d.send(w)
}
