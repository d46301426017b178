package updates

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"notifier/internal/database"
	"notifier/internal/telegram"
)

const (
	// remembered is how long an update_id that comes again is a repetition. Telegram keeps an
	// update for 24 hours, and may begin with new ids after a week without any
	// (https://core.telegram.org/bots/api#update).
	remembered = 48 * time.Hour
	// forgetAtOnce is how many ids older than that are forgotten with each new one.
	forgetAtOnce = 10
	// maxFailures is how often the effect of one update may fail, through no fault of storage, before
	// the update is set aside.
	maxFailures = 10
	// maxFailed is how many such updates are counted at a time.
	maxFailed = 1000
)

// errNoID says that something came in the place of an update that has no id. It can neither be
// remembered nor confirmed.
var errNoID = errors.New("an update without an update_id")

// InboxOptions are what an Inbox needs.
type InboxOptions struct {
	DB      *database.DB
	Handler Handler
	Client  *telegram.Client // answers buttons that were pressed, and knows the bot's name
	// Committed is called after an update was stored that may have had an effect; nil: nobody is.
	Committed func()
	// Received is told of each update and what it was, repetitions aside; nil: nobody is.
	Received func(Kind)
	Log      *slog.Logger // nil: none
}

// Inbox stores updates with their effects. Its methods may be called side by side.
type Inbox struct {
	InboxOptions
	callbacks *callbacks

	mu     sync.Mutex
	failed map[int64]int // how often in a row an update could not be stored with its effect
}

// NewInbox returns an inbox.
func NewInbox(o InboxOptions) *Inbox {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Committed == nil {
		o.Committed = func() {}
	}
	if o.Received == nil {
		o.Received = func(Kind) {}
	}
	return &Inbox{InboxOptions: o, callbacks: newCallbacks(o.Client), failed: map[int64]int{}}
}

// Close waits for answers to buttons that are under way. Nothing may be received any more.
func (in *Inbox) Close() { in.callbacks.wait() }

// receive stores an update and its effect, unless it was received before. When it returns nil, both
// are on disk and Telegram may be told so. Its error is ErrNoID, or comes from the database: then
// the update must come again. fresh says that it is no repetition.
func (in *Inbox) receive(ctx context.Context, raw json.RawMessage) (fresh bool, err error) {
	id, ok := updateID(raw)
	if !ok {
		in.Received(Unreadable)
		return false, errNoID
	}
	a := in.read(raw)
	fresh, err = in.store(ctx, id, a)
	var broken *panicError
	switch {
	case errors.As(err, &broken), err != nil && !unavailable(err) && in.hopeless(id):
		in.Log.Error("an update is set aside: its effect fails again and again", "update_id", id, "kind", a.Kind, "err", err)
		a = Event{Kind: Unreadable}
		fresh, err = in.store(ctx, id, a)
	}
	if err != nil {
		return false, fmt.Errorf("store update %d: %w", id, err)
	}
	in.recovered(id)
	if fresh {
		in.Received(a.Kind)
		in.callbacks.answer(a.callback)
		in.Committed()
	}
	return fresh, nil
}

// read is read, whatever happens in it.
func (in *Inbox) read(raw json.RawMessage) (a Event) {
	defer func() {
		if r := recover(); r != nil {
			in.Log.Error("an update cannot be read", "panic", fmt.Sprintf("%T", r))
			a = Event{Kind: Unreadable}
		}
	}()
	return read(raw, in.Client.Username())
}

// store remembers the id and lets the handler handle the event, both or neither.
func (in *Inbox) store(ctx context.Context, id int64, a Event) (fresh bool, err error) {
	now := time.Now()
	err = in.DB.Write(ctx, func(tx database.Tx) error {
		fresh, err = remember(tx, now, id, a.Kind)
		if err != nil || !fresh || a.Kind == Ignored || a.Kind == Unreadable {
			return err
		}
		return in.handle(tx, now, a)
	})
	return fresh && err == nil, err
}

// remember stores an id. It is not fresh when it was stored not long ago.
func remember(tx database.Tx, now time.Time, id int64, k Kind) (fresh bool, err error) {
	before := now.Add(-remembered).UnixMilli()
	err = tx.QueryRow(`INSERT INTO notifier_updates (update_id, received_at, kind) VALUES (?, ?, ?)
		ON CONFLICT (update_id) DO UPDATE SET received_at = excluded.received_at, kind = excluded.kind
			WHERE notifier_updates.received_at <= ?
		RETURNING update_id`, id, now.UnixMilli(), k, before).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remember its id: %w", err)
	}
	_, err = tx.Exec(`DELETE FROM notifier_updates WHERE update_id IN (SELECT update_id FROM notifier_updates
		WHERE received_at <= ? ORDER BY received_at LIMIT ?)`, before, forgetAtOnce)
	if err != nil {
		return false, fmt.Errorf("forget old ids: %w", err)
	}
	return true, nil
}

// panicError is a panic of a handler. Its value is not shown: it may hold what somebody wrote.
type panicError struct{ kind string }

func (e *panicError) Error() string { return "panic: " + e.kind }

func (in *Inbox) handle(tx database.Tx, now time.Time, a Event) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{fmt.Sprintf("%T", r)}
		}
	}()
	return in.Handler.Handle(tx, now, a)
}

// unavailable says that storage cannot take anything at present, or that we are to end.
func unavailable(err error) bool {
	return database.Unavailable(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// hopeless notes that an update could not be stored with its effect, and says whether it was so
// often enough.
func (in *Inbox) hopeless(id int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.failed) >= maxFailed {
		clear(in.failed)
	}
	in.failed[id]++
	return in.failed[id] >= maxFailures
}

func (in *Inbox) recovered(id int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.failed, id)
}
