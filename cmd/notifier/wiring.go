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
	"notifier/internal/database"
	"notifier/internal/httpapi"
	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram"
	"notifier/internal/telegram/text"
)

// house is all rooms, wired.
type house struct {
	Settings
	log     *slog.Logger
	db      *database.DB
	box     *outbox.Outbox
	texts   *text.Renderer
	metrics *httpapi.Metrics
	api     *httpapi.API
	// sender is nil in processes that send nothing: their commits are noticed by the one that does.
	sender atomic.Pointer[outbox.Dispatcher]
	sends  atomic.Bool // this process has the sender's lock
}

// build wires everything but the sender.
func build(ctx context.Context, s Settings, log *slog.Logger) (*house, error) {
	texts, err := text.New(text.Options{Locale: s.Locale})
	if err != nil {
		return nil, &settingError{"NOTIFIER_LOCALE", err.Error()}
	}
	db, err := database.Open(ctx, s.Database, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		return nil, fmt.Errorf("%w\nDATABASE_URL says where the database is", err)
	}
	h := &house{Settings: s, log: log, db: db, texts: texts, box: outbox.New("telegram", s.policy())}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	httpapi.RegisterBuildInfo(registry, version())
	httpapi.NewStock(registry, db, h.box, time.Now)
	h.metrics = httpapi.NewMetrics(registry)
	h.api = httpapi.New(httpapi.Config{
		DB: db, Outbox: h.box, Orders: orders.New(h.box, s.StaffChatID),
		Key: s.APIKey.Reveal(), Version: version(), Log: log,
		Wake: h.wake, CheckText: h.checkText, Problems: h.problems,
		Metrics: h.metrics, Gather: registry,
	})
	return h, nil
}

func (h *house) close() {
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
	err := h.texts.Check(typ, payload)
	var said *text.Error
	if errors.As(err, &said) {
		return errors.New(said.Detail())
	}
	return err
}

// render gives the texts to the client in its own terms.
func (h *house) render(typ string, payload json.RawMessage) (telegram.Rendered, error) {
	t, err := h.texts.Render(typ, payload)
	if err != nil {
		return telegram.Rendered{}, err
	}
	r := telegram.Rendered{HTML: t.HTML, Plain: t.Plain}
	for _, b := range t.Buttons {
		r.Buttons = append(r.Buttons, telegram.Button(b))
	}
	return r, nil
}

// errNoToken says how to get one.
var errNoToken = errors.New("TELEGRAM_BOT_TOKEN is not set: get a token from @BotFather in Telegram and put it into .env; " +
	"to try notifier without one, run `notifier demo`")

// addSender wires the way to Telegram. It asks nobody yet.
func (h *house) addSender(accept bool) (*outbox.Dispatcher, error) {
	if h.Token.Reveal() == "" {
		return nil, errNoToken
	}
	identity, err := telegram.BotID(h.Token)
	if err != nil {
		return nil, &settingError{"TELEGRAM_BOT_TOKEN", err.Error()}
	}
	client, err := telegram.New(telegram.Options{
		Token: h.readToken, URL: h.TelegramURL, Timeout: h.SendTimeout, Render: h.render,
	})
	if err != nil {
		return nil, &settingError{"TELEGRAM_API_URL or TELEGRAM_BOT_TOKEN", err.Error()}
	}
	pace, err := telegram.NewPace(h.rates())
	if err != nil {
		return nil, err
	}
	if accept {
		err := h.db.Write(context.Background(), func(tx database.Tx) error { return h.box.AcceptIdentity(tx, identity) })
		if err != nil {
			return nil, err
		}
	}
	d := outbox.NewDispatcher(h.db, h.box, client, pace, outbox.DispatcherConfig{
		Identity: identity, Concurrency: h.Concurrency, BatchSize: h.BatchSize, SendTimeout: h.SendTimeout,
		Logger: h.log, Observer: h.metrics,
	})
	h.sender.Store(d)
	return d, nil
}

// readToken is asked at the start, and again after Telegram refused the token.
func (h *house) readToken() (telegram.Secret, error) {
	if h.tokenFile == "" {
		return h.Token, nil
	}
	return readSecret(h.tokenFile)
}

// lateAfter is how old the oldest due message may become before that is a problem.
const lateAfter = 5 * time.Minute

// problems says what is wrong besides storage, from what every process can read.
func (h *house) problems(ctx context.Context) []httpapi.Problem {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var (
		status outbox.SenderStatus
		due    time.Time
		staff  outbox.Recipient
		now    = time.Now()
	)
	err := h.db.Read(ctx, func(tx database.Tx) (err error) {
		if status, err = h.box.Status(tx, now); err != nil {
			return err
		}
		if h.StaffChatID != 0 {
			if staff, err = h.box.Recipient(tx, fmt.Sprint(h.StaffChatID)); err != nil {
				return err
			}
		}
		due, err = h.box.OldestDue(tx, now)
		return err
	})
	if err != nil {
		return []httpapi.Problem{{Code: "database_unreadable", Detail: err.Error()}}
	}
	var found []httpapi.Problem
	add := func(code, detail string) { found = append(found, httpapi.Problem{Code: code, Detail: detail}) }
	if status.State != outbox.SenderRunning {
		add("sender_"+status.State, "nothing is being sent: "+status.Reason)
	}
	if late := now.Sub(due); !due.IsZero() && late > lateAfter {
		add("oldest_due_late", fmt.Sprintf("the oldest message that could go has been due for %v", late.Round(time.Second)))
	}
	if d := h.sender.Load(); d != nil && d.ClockDoubt() != "" && h.sends.Load() {
		add("clock", d.ClockDoubt())
	}
	if staff.State == outbox.RecipientDead {
		add("staff_chat_dead", fmt.Sprintf("the staff's chat is dead (%s): unblock the bot there, then run `notifier chat revive %s`", staff.Reason, staff.Address))
	}
	return found
}

// local answers requests of this process itself.
func (h *house) local() http.Handler { return h.api.Local() }
