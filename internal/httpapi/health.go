package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"notifier/internal/database"
	"notifier/internal/idempotency"
)

func (a *API) registerHealth() {
	register(a, huma.Operation{
		OperationID: "livez", Method: http.MethodGet, Path: "/livez", Tags: []string{"health"},
		Summary: "Say that the process is alive",
	}, func(context.Context, *struct{}) (*output[liveBody], error) {
		return &output[liveBody]{Body: liveBody{"ok"}}, nil
	})
	register(a, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{"health"},
		Summary: "Say whether orders can be committed, and what else is wrong",
	}, a.showReady)
	a.mux.Handle("GET /metrics", promhttp.HandlerFor(a.Gather, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
}

type liveBody struct {
	Status string `json:"status"`
}

type readyOutput struct {
	Status int
	Body   struct {
		Status   string    `json:"status" enum:"ok,degraded,down"`
		Problems []Problem `json:"problems"`
	}
}

func (a *API) showReady(ctx context.Context, _ *struct{}) (*readyOutput, error) {
	out := &readyOutput{Status: http.StatusOK}
	out.Body.Status, out.Body.Problems = "ok", []Problem{}
	if err := a.ready.try(a.tryCommit); err != nil {
		out.Status, out.Body.Status = http.StatusServiceUnavailable, "down"
		out.Body.Problems = append(out.Body.Problems, Problem{
			Code: "orders_not_committed", Detail: "orders cannot be committed at present: " + err.Error(),
		})
	}
	out.Body.Problems = append(out.Body.Problems, a.ready.recall(func() []Problem { return a.Problems(context.WithoutCancel(ctx)) })...)
	if out.Body.Status == "ok" && len(out.Body.Problems) > 0 {
		out.Body.Status = "degraded"
	}
	return out, nil
}

// tryCommit commits something tiny. nothing less shows a full disk or a lock that is held.
func (a *API) tryCommit() error {
	ctx, cancel := context.WithTimeout(context.Background(), a.patience)
	defer cancel()
	return a.DB.Write(ctx, func(tx database.Tx) error { return idempotency.Try(tx, a.Now()) })
}

// readiness keeps the outcome of the last trial, and lets one trial at a time run: whoever asks
// meanwhile waits for it too.
type readiness struct {
	patience time.Duration // how long a trial may take before orders count as stuck
	// fresh is how long an outcome is told again: /readyz needs no key, and must not be a way to
	// keep the disk busy.
	fresh time.Duration

	looking  sync.Mutex // one at a time looks for problems
	looked   time.Time
	problems []Problem

	mu      sync.Mutex
	running chan struct{} // closed when the trial under way is over
	ended   time.Time
	err     error
}

func newReadiness() *readiness { return &readiness{patience: 2 * time.Second, fresh: time.Second} }

func (r *readiness) try(commit func() error) error {
	r.mu.Lock()
	if r.running == nil && !r.ended.IsZero() && time.Since(r.ended) < r.fresh {
		defer r.mu.Unlock()
		return r.err
	}
	if r.running == nil {
		r.running = make(chan struct{})
		go r.run(commit, r.running)
	}
	running := r.running
	r.mu.Unlock()

	patience := time.NewTimer(r.patience)
	defer patience.Stop()
	select {
	case <-running:
	case <-patience.C:
		return fmt.Errorf("the database has been locked for more than %v; see which program keeps a transaction open", r.patience)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// recall returns what look found, which is asked again only when that is no longer fresh.
func (r *readiness) recall(look func() []Problem) []Problem {
	r.looking.Lock()
	defer r.looking.Unlock()
	if r.looked.IsZero() || time.Since(r.looked) >= r.fresh {
		r.problems = look()
		r.looked = time.Now()
	}
	return r.problems
}

func (r *readiness) run(commit func() error, over chan struct{}) {
	err := commit()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.ended, r.running = err, time.Now(), nil
	close(over)
}
