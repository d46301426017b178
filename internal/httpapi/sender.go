package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/database"
)

func (a *API) registerSender() {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{"sender"}}
	}
	register(a, op("show-sender", http.MethodGet, "/sender", "Say whether messages are being sent"), a.showSender)
	register(a, op("pause-sender", http.MethodPost, "/sender/pause", "Send nothing until resumed"), a.onSender(a.Outbox.Pause))
	register(a, op("resume-sender", http.MethodPost, "/sender/resume", "End a pause"), a.onSender(a.Outbox.Resume))
	register(a, op("release-sender", http.MethodPost, "/sender/release", "Lift the gate of the whole bot"), a.onSender(a.Outbox.ReleaseSender))
}

type senderBody struct {
	State  string     `json:"state" enum:"running,paused,waiting,stopped"`
	Reason string     `json:"reason,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
}

func (a *API) showSender(ctx context.Context, _ *struct{}) (*output[senderBody], error) {
	return look(ctx, a, a.senderStatus)
}

func (a *API) senderStatus(tx database.Tx, now time.Time) (senderBody, error) {
	s, err := a.Outbox.Status(tx, now)
	return senderBody{State: s.State, Reason: s.Reason, Until: instant(s.Until)}, err
}

// onSender is the operation that does act, and answers how the sender stands then.
func (a *API) onSender(act func(database.Tx, time.Time) error) func(context.Context, *Nothing) (*answer[senderBody], error) {
	return func(ctx context.Context, _ *Nothing) (*answer[senderBody], error) {
		return ok(ctx, a, func(tx database.Tx, now time.Time) (senderBody, error) {
			if err := act(tx, now); err != nil {
				return senderBody{}, err
			}
			return a.senderStatus(tx, now)
		})
	}
}
