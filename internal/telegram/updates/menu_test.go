package updates

import (
	"context"
	"strings"
	"testing"
	"time"

	"notifier/internal/database"
	"notifier/internal/telegram"
	"notifier/internal/telegram/sandbox"
)

// notes keeps a menu's hash.
type notes struct{ hash string }

func (n *notes) Menu(database.Tx) (string, error)         { return n.hash, nil }
func (n *notes) SetMenu(_ database.Tx, hash string) error { n.hash = hash; return nil }

func TestTheMenuIsSetOnlyWhenItHasChanged(t *testing.T) {
	inEnv(t, func(r *env) {
		store := &notes{}
		keeper := func(description string) *MenuKeeper {
			return &MenuKeeper{DB: r.db, Store: store, Client: r.client, Log: r.inbox.Log, Menu: Menu{
				"":   {{Command: "help", Description: description}},
				"ru": {{Command: "help", Description: "Помощь"}},
			}}
		}
		r.fault(sandbox.Fault{Method: "setMyCommands", Times: 1, Respond: sandbox.Respond{RetryAfter: seconds(60)}})
		before := time.Now()
		keeper("Help").Run(context.Background())
		if took := time.Since(before); took < time.Minute {
			t.Errorf("it did not wait: %v", took)
		}
		keeper("Help").Run(context.Background())
		r.reopen()
		must(t, keeper("Help").Set(context.Background()))
		calls := r.calls("setMyCommands")
		if len(calls) != 3 { // one was told to wait
			t.Errorf("%d calls", len(calls))
		}
		if got := calls[2].Params["language_code"]; got != "ru" || !strings.Contains(calls[1].Params["commands"], "Help") {
			t.Errorf("set: %v, %v", calls[1].Params, calls[2].Params)
		}
		must(t, keeper("Help!").Set(context.Background()))
		if n := len(r.calls("setMyCommands")); n != 5 {
			t.Errorf("%d calls after a change", n)
		}
		k := keeper("Help!")
		k.Menu["de"] = []telegram.Command{{Command: "help", Description: "Hilfe"}}
		r.wire.cut.Store(true)
		if err := k.Set(context.Background()); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v", err)
		}
	})
}
