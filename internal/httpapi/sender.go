package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"notifier/internal/conditions"
	"notifier/internal/database"
	"notifier/internal/outbox"
)

func (a *API) registerSender() {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{"sender"}}
	}
	register(a, op("show-sender", http.MethodGet, "/sender", "Say whether messages are being sent"), a.showSender)
	register(a, op("pause-sender", http.MethodPost, "/sender/pause", "Send nothing until resumed"), a.onSender(a.Outbox.Pause))
	register(a, op("resume-sender", http.MethodPost, "/sender/resume", "End a pause"), a.onSender(a.resume))
	register(a, op("release-sender", http.MethodPost, "/sender/release", "Lift the gate of the whole bot"), a.onSender(a.Outbox.ReleaseSender))
}

// resume ends a pause, and accepts this file on this machine as the one that sends.
func (a *API) resume(tx database.Tx, now time.Time) error {
	machine, inode, err := a.DB.Place()
	if err != nil {
		return &storageError{err}
	}
	return a.Outbox.Resume(tx, now, machine, inode)
}

type senderBody struct {
	State   string         `json:"state" enum:"running,paused,waiting,stopped" doc:"running: nothing holds up the sender; whether there is one, process says"`
	Reason  string         `json:"reason,omitempty"`
	Until   *time.Time     `json:"until,omitempty"`
	Process *senderProcess `json:"process" doc:"the process that sends for this database; null when none does at present"`
}

// senderProcess is who has the sender's lock.
type senderProcess struct {
	PID  int    `json:"pid" doc:"0 when it has not said yet"`
	Host string `json:"host"`
}

func (a *API) showSender(ctx context.Context, _ *struct{}) (*output[senderBody], error) {
	return look(ctx, a, a.senderStatus)
}

func (a *API) senderStatus(tx database.Tx, now time.Time) (senderBody, error) {
	s, err := conditions.Sender(tx, a.DB, a.Outbox, now)
	if err != nil {
		return senderBody{}, err
	}
	b := senderBody{State: s.State, Reason: s.Reason, Until: instant(s.Until)}
	holder, err := a.DB.SenderHolder()
	if err != nil {
		return b, &storageError{err}
	}
	if holder != nil {
		b.Process = &senderProcess{PID: holder.PID, Host: holder.Host}
	}
	return b, nil
}

// explain says what a message waits for. What is stored does not tell whether anybody sends at all.
func (a *API) explain(tx database.Tx, now time.Time, id int64) (outbox.Explanation, error) {
	e, err := a.Outbox.Explain(tx, now, id)
	if err != nil || e.Code != outbox.WaitsTurn {
		return e, err
	}
	holder, err := a.DB.SenderHolder()
	switch {
	case err != nil:
		return e, &storageError{err}
	case holder == nil:
		e.Text = "It is due, but no process sends for this database at present: start `notifier serve`."
	default:
		e.Text = "It is due and goes as soon as its turn comes."
	}
	return e, nil
}

// onSender is the operation that does act, and answers how the sender stands then.
func (a *API) onSender(act func(database.Tx, time.Time) error) func(context.Context, *Nothing) (*response[senderBody], error) {
	return func(ctx context.Context, _ *Nothing) (*response[senderBody], error) {
		return ok(ctx, a, func(tx database.Tx, now time.Time) (senderBody, error) {
			if err := act(tx, now); err != nil {
				return senderBody{}, err
			}
			return a.senderStatus(tx, now)
		})
	}
}
