package httpapi

import (
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// Metrics are what is counted while it happens. What can be looked up is in collector.go.
type Metrics struct {
	enqueued *prometheus.CounterVec
	attempts *prometheus.CounterVec
	sends    prometheus.Histogram
	delays   prometheus.Histogram
	waits    prometheus.Histogram
	updates  *prometheus.CounterVec
	mended   prometheus.Counter
	kinds    []string
}

// RegisterDroppedLines registers how many lines of the log were not written.
func RegisterDroppedLines(r prometheus.Registerer, dropped func() int64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "notifier_log_lines_dropped_total", Help: "Lines of the log that nobody took in time.",
	}, func() float64 { return float64(dropped()) }))
}

// types are the message types with a label of their own.
var types = append(orders.Types(), orders.TypeText)

// otherType is the label of all the others: whoever writes to the table may make up types.
const otherType = "other"

// verdicts are all results of an attempt.
var verdicts = []outbox.Verdict{
	outbox.Accepted, outbox.Wait, outbox.Uncertain, outbox.NotSent, outbox.NotFromChannel, outbox.BotStopped,
	outbox.Moved, outbox.ChatDead, outbox.ChatDoubtful, outbox.Repair, outbox.Rejected, outbox.Failed,
}

// NewMetrics registers the metrics with r. Every label is there from the start, with zero. kinds are
// those of updates.
func NewMetrics(r prometheus.Registerer, kinds ...string) *Metrics {
	m := &Metrics{
		kinds: kinds,
		updates: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "notifier_updates_total", Help: "Updates that were taken in, by kind.",
		}, []string{"kind"}),
		enqueued: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "notifier_messages_enqueued_total", Help: "Messages committed by this process, by type.",
		}, []string{"type"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "notifier_attempts_total", Help: "Calls made for messages, by result.",
		}, []string{"result"}),
		sends: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "notifier_send_duration_seconds", Help: "How long calls for messages took.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
		delays: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "notifier_delivery_delay_seconds", Help: "From the commit of a message to its acceptance.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 43200},
		}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "notifier_limiter_wait_seconds", Help: "How long messages that could go waited for the pace.",
			Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 30, 60},
		}),
	}
	m.mended = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "notifier_turns_mended_total", Help: "Turns that differed from their messages; zero, or a fault of the program, or somebody wrote into its columns.",
	})
	for _, t := range append(slices.Clone(types), otherType) {
		m.enqueued.WithLabelValues(t)
	}
	for _, v := range verdicts {
		m.attempts.WithLabelValues(string(v))
	}
	for _, k := range kinds {
		m.updates.WithLabelValues(k)
	}
	r.MustRegister(m.updates, m.mended, m.enqueued, m.attempts, m.sends, m.delays, m.waits)
	return m
}

// Enqueued counts a message that was committed.
func (m *Metrics) Enqueued(typ string) {
	if !slices.Contains(types, typ) {
		typ = otherType
	}
	m.enqueued.WithLabelValues(typ).Inc()
}

// Received counts an update that was taken in.
func (m *Metrics) Received(kind string) {
	if !slices.Contains(m.kinds, kind) {
		kind = otherType
	}
	m.updates.WithLabelValues(kind).Inc()
}

// Attempted counts a call that is over.
func (m *Metrics) Attempted(v outbox.Verdict, took time.Duration) {
	m.attempts.WithLabelValues(string(v)).Inc()
	m.sends.Observe(took.Seconds())
}

// Delivered notes how long a message took from its commit to its acceptance.
func (m *Metrics) Delivered(after time.Duration) { m.delays.Observe(after.Seconds()) }

// Mended counts turns that were not what their messages say.
func (m *Metrics) Mended(turns int) { m.mended.Add(float64(turns)) }

// Limited notes how long a message that could go waited for the pace.
func (m *Metrics) Limited(waited time.Duration) { m.waits.Observe(waited.Seconds()) }

// RegisterBuildInfo registers the metric that names the version.
func RegisterBuildInfo(r prometheus.Registerer, version string) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "notifier_build_info", Help: "1; the labels name the build.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	g.Set(1)
	r.MustRegister(g)
}
