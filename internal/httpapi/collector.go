package httpapi

import (
	"context"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"notifier/internal/conditions"
	"notifier/internal/database"
	"notifier/internal/outbox"
)

// collector are the metrics that are looked up in the database when somebody asks.
type collector struct {
	db     *database.DB
	outbox *outbox.Outbox
	now    func() time.Time

	messages, chats, oldest, gates, sender, bytes *prometheus.Desc
}

// collectPatience bounds how long a scrape waits for a connection.
const collectPatience = 5 * time.Second

// RegisterCollector registers the metrics that are looked up in the database.
func RegisterCollector(r prometheus.Registerer, db *database.DB, o *outbox.Outbox, now func() time.Time) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("notifier_"+name, help, labels, nil)
	}
	c := &collector{
		db: db, outbox: o, now: now,
		messages: desc("messages", "Messages in the outbox.", "state", "reason"),
		chats:    desc("chats", "Chats of which something is remembered.", "state"),
		oldest:   desc("oldest_due_seconds", "For how long the oldest message that could go now has been due."),
		gates:    desc("gate_until_seconds", "Unix time until which Telegram told the bot, or the chat with the longest wait, to wait; 0 without a wait.", "scope"),
		sender:   desc("sender_state", "1 for the state that the sender is in.", "state"),
		bytes:    desc("database_bytes", "The sizes of the database's files.", "file"),
	}
	r.MustRegister(c)
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.messages, c.chats, c.oldest, c.gates, c.sender, c.bytes} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectPatience)
	defer cancel()
	now := c.now()
	var (
		counts outbox.Counts
		due    time.Time
		status outbox.SenderStatus
		bot    time.Time
		chat   time.Time
	)
	err := c.db.Read(ctx, func(tx database.Tx) (err error) {
		if counts, err = c.outbox.Counts(tx); err != nil {
			return err
		}
		if due, err = c.outbox.OldestDue(tx, now); err != nil {
			return err
		}
		if bot, chat, err = c.outbox.Gates(tx, now); err != nil {
			return err
		}
		status, err = conditions.Sender(tx, c.db, c.outbox, now)
		return err
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.messages, err)
		return
	}
	c.collectCounts(ch, counts)
	age := 0.0
	if !due.IsZero() {
		age = max(0, now.Sub(due).Seconds())
	}
	gauge(ch, c.oldest, age)
	gauge(ch, c.gates, unixSeconds(bot), "bot")
	gauge(ch, c.gates, unixSeconds(chat), "chat")
	for _, state := range []string{outbox.SenderRunning, outbox.SenderPaused, outbox.SenderWaiting, outbox.SenderStopped} {
		gauge(ch, c.sender, oneIf(state == status.State), state)
	}
	c.collectFiles(ch)
}

func (c *collector) collectCounts(ch chan<- prometheus.Metric, counts outbox.Counts) {
	for _, key := range stateReasons() {
		gauge(ch, c.messages, float64(counts.Messages[key]), string(key.State), key.Reason)
	}
	for _, state := range []outbox.RecipientState{outbox.RecipientOpen, outbox.RecipientDoubtful, outbox.RecipientDead} {
		gauge(ch, c.chats, float64(counts.Recipients[state]), string(state))
	}
}

func (c *collector) collectFiles(ch chan<- prometheus.Metric) {
	for file, suffix := range map[string]string{"database": "", "wal": "-wal", "shm": "-shm"} {
		size := 0.0
		if info, err := os.Stat(c.db.Path() + suffix); err == nil {
			size = float64(info.Size())
		}
		gauge(ch, c.bytes, size, file)
	}
}

// stateReasons are all pairs that a message can have.
func stateReasons() []outbox.StateReason {
	pairs := []outbox.StateReason{{State: outbox.StatePending}, {State: outbox.StateSending}, {State: outbox.StateSent}, {State: outbox.StateUncertain}}
	for reason := range deadBecause {
		pairs = append(pairs, outbox.StateReason{State: outbox.StateDead, Reason: reason})
	}
	for reason := range canceledBecause {
		pairs = append(pairs, outbox.StateReason{State: outbox.StateCanceled, Reason: reason})
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
