package app

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
	"notifier/internal/conditions"
	"notifier/internal/config"
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
	"notifier/internal/telegram/syntax"
	"notifier/internal/telegram/text"
)

// App is the running process: every package, wired.
type App struct {
	settings   config.Settings
	log        *slog.Logger
	db         *database.DB
	box        *outbox.Outbox
	book       *orders.Book
	texts      *text.Renderer
	metrics    *httpapi.Metrics
	api        *httpapi.API
	conditions *conditions.Checks
	// client is nil in processes without a token.
	client   atomic.Pointer[telegram.Client]
	receiver *receiver // takes in what customers do; nil when NOTIFIER_UPDATES is off, or without a token
	// sender is nil in processes that send nothing: their commits are noticed by the one that does.
	sender atomic.Pointer[outbox.Dispatcher]
	lock   atomic.Pointer[database.SenderLock] // nil while another process has it
}

// Option changes how New works.
type Option func(*options)

type options struct {
	database []database.Option
	dropped  func() int64
}

// WithoutCreating refuses a database that is not there, or has no tables of ours.
func WithoutCreating() Option {
	return func(o *options) { o.database = append(o.database, database.WithoutCreating()) }
}

// WithDroppedLines lets the metrics show how many lines of the log were not written.
func WithDroppedLines(dropped func() int64) Option {
	return func(o *options) { o.dropped = dropped }
}

// New wires everything but the sender.
func New(ctx context.Context, s config.Settings, log *slog.Logger, given ...Option) (*App, error) {
	o := options{dropped: func() int64 { return 0 }}
	for _, option := range given {
		option(&o)
	}
	texts, err := newTexts(s)
	if err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, s.Database, notifier.Schema, notifier.SchemaVersion, o.database...)
	if err != nil {
		return nil, fmt.Errorf("%w\nDATABASE_URL says where the database is", err)
	}
	a := &App{settings: s, log: log, db: db, texts: texts, box: NewOutbox(s)}
	a.conditions = a.newConditions()
	a.book = orders.New(a.box, s.StaffChatID)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	httpapi.RegisterBuildInfo(registry, Version())
	httpapi.RegisterDroppedLines(registry, o.dropped)
	httpapi.RegisterCollector(registry, db, a.box, time.Now)
	a.metrics = httpapi.NewMetrics(registry, updateKinds()...)
	a.api = httpapi.New(httpapi.Config{
		DB: db, Outbox: a.box, Orders: a.book,
		Key: s.APIKey.Reveal(), Version: Version(), Log: log,
		Wake: a.wake, CheckText: a.checkText, Problems: a.problems,
		BotName: a.botName,
		Metrics: a.metrics, Gather: registry,
	})
	return a, nil
}

// Close closes the database, and what is open to Telegram.
func (a *App) Close() {
	if a.receiver != nil {
		a.receiver.inbox.Close()
	}
	if c := a.client.Load(); c != nil {
		c.Close()
	}
	if err := a.db.Close(); err != nil {
		a.log.Error("cannot close the database", "err", err)
	}
}

func (a *App) wake() {
	if d := a.sender.Load(); d != nil {
		d.Wake()
	}
}

// checkText says why a message could never be sent, without the word that is for programs.
func (a *App) checkText(typ string, payload json.RawMessage) error {
	err := a.texts.CheckNew(typ, payload)
	var said *text.Error
	if errors.As(err, &said) {
		return &httpapi.ContentError{Pointer: said.Pointer(), Detail: said.Detail()}
	}
	return err
}

// DB is the database, as this process has it open.
func (a *App) DB() *database.DB { return a.db }

// Local answers requests that this process makes itself, as the verbs do.
func (a *App) Local() http.Handler { return a.api.Local() }

// unlinkedTTL is the age limit of messages whose customer has no chat.
const unlinkedTTL = 30 * 24 * time.Hour

// NewOutbox is the outbox of Telegram's messages, with the settings' rules.
func NewOutbox(s config.Settings) *outbox.Outbox {
	return outbox.New("telegram", outbox.Policy{
		TTL: s.MessageTTL, UnlinkedTTL: unlinkedTTL, MaxAttempts: s.MaxAttempts, OnUncertain: s.OnUncertain,
	})
}

// Check refuses, besides what every verb does, values at which serve stops; a verb that
// needs neither token nor texts works all the same.
func Check(s config.Settings) error {
	var wrong []error
	if token := s.Token; token.Reveal() != "" {
		if _, err := syntax.BotID(token); err != nil {
			wrong = append(wrong, &config.Error{Name: "TELEGRAM_BOT_TOKEN", Reason: err.Error()})
		}
	}
	if _, err := newTexts(s); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

func newTexts(s config.Settings) (*text.Renderer, error) {
	texts, err := text.New(text.Options{Locale: s.Locale})
	if err != nil {
		return nil, &config.Error{Name: "NOTIFIER_LOCALE", Reason: err.Error()}
	}
	return texts, nil
}
