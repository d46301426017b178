package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"notifier"
	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
	"notifier/internal/telegram/syntax"
	"notifier/internal/telegram/text"
)

// house is all rooms, wired.
type house struct {
	config.Settings
	log     *slog.Logger
	db      *database.DB
	box     *outbox.Outbox
	book    *orders.Book
	texts   *text.Renderer
	metrics *httpapi.Metrics
	api     *httpapi.API
	// client is nil in processes without a token.
	client atomic.Pointer[telegram.Client]
	ears   *ears // hear what customers do; nil when nobody is to, or without a token
	// sender is nil in processes that send nothing: their commits are noticed by the one that does.
	sender atomic.Pointer[outbox.Dispatcher]
	sends  atomic.Bool // this process has the sender's lock
}

// build wires everything but the sender.
func build(ctx context.Context, s config.Settings, log *slog.Logger) (*house, error) {
	texts, err := text.New(text.Options{Locale: s.Locale})
	if err != nil {
		return nil, &config.Error{Name: "NOTIFIER_LOCALE", Reason: err.Error()}
	}
	db, err := database.Open(ctx, s.Database, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		return nil, fmt.Errorf("%w\nDATABASE_URL says where the database is", err)
	}
	h := &house{Settings: s, log: log, db: db, texts: texts, box: outbox.New("telegram", policy(s))}
	h.book = orders.New(h.box, s.StaffChatID)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	httpapi.RegisterBuildInfo(registry, version())
	httpapi.NewStock(registry, db, h.box, time.Now)
	h.metrics = httpapi.NewMetrics(registry, updateKinds()...)
	h.api = httpapi.New(httpapi.Config{
		DB: db, Outbox: h.box, Orders: h.book,
		Key: s.APIKey.Reveal(), Version: version(), Log: log,
		Wake: h.wake, CheckText: h.checkText, Problems: h.problems,
		BotName: h.botName,
		Metrics: h.metrics, Gather: registry,
	})
	return h, nil
}

func (h *house) close() {
	if h.ears != nil {
		h.ears.inbox.Close()
	}
	if c := h.client.Load(); c != nil {
		c.Close()
	}
	if err := h.db.Close(); err != nil {
		h.log.Error("cannot close the database", "err", err)
	}
}

func (h *house) wake() {
	if d := h.sender.Load(); d != nil {
		d.Wake()
	}
}

// checkText says why a message could never be sent, without the word that is for programs.
func (h *house) checkText(typ string, payload json.RawMessage) error {
	err := h.texts.CheckNew(typ, payload)
	var said *text.Error
	if errors.As(err, &said) {
		return &httpapi.ContentError{Pointer: said.Pointer(), Detail: said.Detail()}
	}
	return err
}

// local answers requests of this process itself.
func (h *house) local() http.Handler { return h.api.Local() }

// unlinkedTTL is the age limit of messages whose customer has no chat.
const unlinkedTTL = 30 * 24 * time.Hour

func policy(s config.Settings) outbox.Policy {
	return outbox.Policy{TTL: s.MessageTTL, UnlinkedTTL: unlinkedTTL, MaxAttempts: s.MaxAttempts, OnUncertain: s.OnUncertain}
}

// checkForServe refuses, besides what every verb does, values at which serve stops; a verb that
// needs neither token nor texts works all the same.
func checkForServe(s config.Settings) error {
	var wrong []error
	if token := s.Token; token.Reveal() != "" {
		if _, err := syntax.BotID(token); err != nil {
			wrong = append(wrong, &config.Error{Name: "TELEGRAM_BOT_TOKEN", Reason: err.Error()})
		}
	}
	if _, err := text.New(text.Options{Locale: s.Locale}); err != nil {
		wrong = append(wrong, &config.Error{Name: "NOTIFIER_LOCALE", Reason: err.Error()})
	}
	return errors.Join(wrong...)
}
