package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

const (
	// soonLeft: what becomes due within this time after the last pass is work that is left. A
	// message that has just failed for the first time waits a second.
	soonLeft = 2 * time.Second
	// soonAgain: --until-empty waits for what becomes due within this time.
	soonAgain = 5 * time.Second
	// idleLimit is how long --until-empty makes passes in which no call is made.
	idleLimit = 10 * time.Second
	// idleWait is the least time between two passes.
	idleWait = 100 * time.Millisecond
)

// passes makes one pass, or as many as it takes, and says what is left then.
func (a *App) passes(ctx context.Context, untilEmpty bool, out io.Writer) error {
	var sent, ended int
	progress := time.Now()
	for {
		r, err := a.sender.Load().Dispatch(ctx)
		sent, ended = sent+r.Sent, ended+r.Ended
		now := time.Now()
		if r.Attempts > 0 {
			progress = now
		}
		if untilEmpty && (now.Sub(progress) < idleLimit || errors.Is(err, outbox.ErrGated)) {
			wait, err := a.untilNext(ctx, now, r, err)
			if err != nil {
				return err
			}
			if wait > 0 && sleep(ctx, wait) {
				continue
			}
		}
		fmt.Fprintf(out, "%d sent, %d ended otherwise.\n", sent, ended)
		return a.workLeft(ctx, r, err)
	}
}

// sleep waits, and says whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool { return awaitChange(ctx, nil, d) }

// awaitChange waits for a change, but no longer than d, and says whether ctx still goes on.
func awaitChange(ctx context.Context, changes <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changes:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// untilNext is how long to wait before another pass may find something to do; 0 when none will for
// a while. A wait that Telegram asked for is waited out, however long it is.
func (a *App) untilNext(ctx context.Context, now time.Time, r outbox.Report, err error) (time.Duration, error) {
	wait := max(idleWait, r.Next.Sub(now))
	switch {
	case errors.Is(err, outbox.ErrGated) && !r.Next.IsZero():
		return wait, nil
	case errors.Is(err, outbox.ErrOutage) && !r.Next.IsZero() && wait <= soonAgain:
		return wait, nil // the next probe may find that the outage is over
	case err != nil || ctx.Err() != nil:
		return 0, nil //nolint:nilerr // what ended the pass is told by its caller
	}
	due, errDue := a.dueBy(ctx, now.Add(soonAgain))
	if errDue != nil || !due {
		return 0, errDue
	}
	return min(wait, soonAgain), nil
}

// dueBy says whether a message that has a chat is due then, whether or not something holds up all.
func (a *App) dueBy(ctx context.Context, then time.Time) (bool, error) {
	var due time.Time
	err := a.db.Read(ctx, func(tx database.Tx) (err error) {
		due, err = a.box.OldestDue(tx, then)
		return err
	})
	return !due.IsZero(), err
}

// workLeft says what is left to send after the last pass, and why. The database knows: a pass that
// could not begin has counted nothing.
func (a *App) workLeft(ctx context.Context, r outbox.Report, err error) error {
	if err != nil && !outbox.Held(err) {
		return err
	}
	ctx = context.WithoutCancel(ctx) // the end was asked for; to say what is left takes no time
	due, errDue := a.dueBy(ctx, time.Now().Add(soonLeft))
	if errDue != nil || !due {
		return errDue
	}
	reason, errReason := a.whyLeft(ctx, err)
	if errReason != nil {
		return errReason
	}
	return &WorkLeftError{fmt.Errorf("work remains%s: %s", forSo(r.Due), reason)}
}

// forSo says for how many recipients, when that is known.
func forSo(recipients int) string {
	switch recipients {
	case 0:
		return ""
	case 1:
		return " for 1 recipient"
	}
	return fmt.Sprintf(" for %d recipients", recipients)
}

// whyLeft says why what is due was not sent.
func (a *App) whyLeft(ctx context.Context, err error) (string, error) {
	now := time.Now()
	var status outbox.SenderStatus
	var message string
	errRead := a.db.Read(ctx, func(tx database.Tx) (e error) {
		if status, e = a.senderStatus(tx, now); e != nil {
			return e
		}
		message, e = a.whyOne(tx, now)
		return e
	})
	switch {
	case errRead != nil:
		return "", errRead
	case status.State == outbox.SenderWaiting && !status.Until.IsZero():
		return status.Reason + "; it can go on at " + status.Until.UTC().Format(time.RFC3339), nil
	case status.State != outbox.SenderRunning: // it goes on when a person has done something
		return status.Reason, nil
	case errors.Is(err, context.Canceled):
		return "it was told to end", nil
	case err != nil:
		return inTelegramsName(err.Error()), nil
	}
	return message, nil
}

// looksBack bounds how many messages whyOne explains.
const looksBack = 100

// notDue are what a message waits for that is not due, or only behind another.
var notDue = []string{outbox.WaitsLink, outbox.WaitsPlan, outbox.WaitsEarlier}

// whyOne says what a message waits for that comes next.
func (a *App) whyOne(tx database.Tx, now time.Time) (string, error) {
	const meanwhile = "more has become due meanwhile"
	waiting, err := a.box.Messages(tx, outbox.Filter{State: outbox.StatePending, Limit: looksBack})
	if err != nil {
		return "", err
	}
	for _, m := range slices.Backward(waiting) { // the oldest first
		e, err := a.box.Explain(tx, now, m.ID)
		switch {
		case err != nil:
			return "", err
		case e.Code == outbox.WaitsTurn:
			return meanwhile, nil
		case !slices.Contains(notDue, e.Code):
			return fmt.Sprintf("message %d: %s", m.ID, strings.TrimSuffix(e.Text, ".")), nil
		}
	}
	return meanwhile, nil
}

// inTelegramsName calls the outbox's channel what people call it.
func inTelegramsName(words string) string {
	return strings.ReplaceAll(words, "the channel", "Telegram")
}
