package httpapi

import (
	"context"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// Stock are the metrics that are looked up in the database when somebody asks.
type Stock struct {
	db     *database.DB
	outbox *outbox.Outbox
	now    func() time.Time

	messages, chats, oldest, gates, sender, bytes *prometheus.Desc
}

// stockPatience bounds how long a scrape waits for a connection.
const stockPatience = 5 * time.Second

// NewStock registers the metrics with r.
func NewStock(r prometheus.Registerer, db *database.DB, o *outbox.Outbox, now func() time.Time) *Stock {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("notifier_"+name, help, labels, nil)
	}
	s := &Stock{
		db: db, outbox: o, now: now,
		messages: desc("messages", "Messages in the outbox.", "state", "reason"),
		chats:    desc("chats", "Chats of which something is remembered.", "state"),
		oldest:   desc("oldest_due_seconds", "For how long the oldest message that could go now has been due."),
		gates:    desc("gate_until_seconds", "Unix time until which Telegram told the bot, or the chat with the longest wait, to wait; 0 without a wait.", "scope"),
		sender:   desc("sender_state", "1 for the state that the sender is in.", "state"),
		bytes:    desc("database_bytes", "The sizes of the database's files.", "file"),
	}
	r.MustRegister(s)
	return s
}

// Describe implements prometheus.Collector.
func (s *Stock) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.messages, s.chats, s.oldest, s.gates, s.sender, s.bytes} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Stock) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), stockPatience)
	defer cancel()
	now := s.now()
	var (
		counts outbox.Counts
		due    time.Time
		status outbox.SenderStatus
		bot    time.Time
		chat   time.Time
	)
	err := s.db.Read(ctx, func(tx database.Tx) (err error) {
		if counts, err = s.outbox.Counts(tx); err != nil {
			return err
		}
		if due, err = s.outbox.OldestDue(tx, now); err != nil {
			return err
		}
		if bot, chat, err = s.outbox.Gates(tx, now); err != nil {
			return err
		}
		status, err = s.outbox.Status(tx, now)
		return err
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(s.messages, err)
		return
	}
	s.collectCounts(ch, counts)
	age := 0.0
	if !due.IsZero() {
		age = max(0, now.Sub(due).Seconds())
	}
	gauge(ch, s.oldest, age)
	gauge(ch, s.gates, unixSeconds(bot), "bot")
	gauge(ch, s.gates, unixSeconds(chat), "chat")
	for _, state := range []string{outbox.SenderRunning, outbox.SenderPaused, outbox.SenderWaiting, outbox.SenderStopped} {
		gauge(ch, s.sender, oneIf(state == status.State), state)
	}
	s.collectFiles(ch)
}

func (s *Stock) collectCounts(ch chan<- prometheus.Metric, c outbox.Counts) {
	for _, key := range stateReasons() {
		gauge(ch, s.messages, float64(c.Messages[key]), string(key.State), key.Reason)
	}
	for _, state := range []outbox.RecipientState{outbox.RecipientOpen, outbox.RecipientDoubtful, outbox.RecipientDead} {
		gauge(ch, s.chats, float64(c.Recipients[state]), string(state))
	}
}

func (s *Stock) collectFiles(ch chan<- prometheus.Metric) {
	for file, suffix := range map[string]string{"database": "", "wal": "-wal", "shm": "-shm"} {
		size := 0.0
		if info, err := os.Stat(s.db.Path() + suffix); err == nil {
			size = float64(info.Size())
		}
		gauge(ch, s.bytes, size, file)
	}
}

// stateReasons are all pairs that a message can have.
func stateReasons() []outbox.StateReason {
	pairs := []outbox.StateReason{{State: outbox.Pending}, {State: outbox.Sending}, {State: outbox.Sent}, {State: outbox.Unsure}}
	for reason := range deadBecause {
		pairs = append(pairs, outbox.StateReason{State: outbox.Dead, Reason: reason})
	}
	for reason := range canceledBecause {
		pairs = append(pairs, outbox.StateReason{State: outbox.Canceled, Reason: reason})
	}
	return pairs
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
