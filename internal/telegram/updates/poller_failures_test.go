package updates

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

func TestPoisonIsStoredAndPassed(t *testing.T) {
	inEnv(t, func(r *env) {
		r.answers(`{"update_id":1,"message":"?"},{"update_id":2,"message":{"chat":{"id":1e99}}},null,5,{"update_id":3},` +
			`{"update_id":4,"poll":{"id":[]}},{"update_id":"5"},` + words(6, 801))
		r.poll(time.Minute)
		r.wantHeard("text 801 ")
		if got := fmt.Sprint(r.stored()); got != "[unreadable unreadable ignored ignored text]" {
			t.Errorf("stored %s", got)
		}
		if got := r.offsets()[1]; got != 7 {
			t.Errorf("confirmed up to %d", got)
		}
	})
}

func TestWhatCannotBeStoredIsNotConfirmed(t *testing.T) {
	inEnv(t, func(r *env) {
		for chat := range int64(3) {
			must(t, r.sandbox.Write(801+chat, "x"))
		}
		fails := 3
		r.effect = func(a Event) error {
			if a.Chat == 802 && fails > 0 {
				fails--
				return errDiskFull
			}
			return nil
		}
		r.poll(time.Minute)
		r.wantHeard("text 801 ", "text 802 ", "text 803 ")

		fails = 1000
		must(t, r.sandbox.Write(802, "y"))
		r.poll(time.Hour)
		r.wantStatus(NotReceiving)
		fails = 0
		r.poll(time.Minute)
		r.wantHeard("text 801 ", "text 802 ", "text 803 ", "text 802 ")
	})
}

func TestAnEffectThatAlwaysFailsIsSetAside(t *testing.T) {
	for name, effect := range map[string]func(a Event) error{
		"error": func(a Event) error { return errors.New("never") },
		"panic": func(a Event) error { panic("hush") },
	} {
		inEnv(t, func(r *env) {
			r.effect = func(a Event) error {
				if a.Chat == 801 {
					return effect(a)
				}
				return nil
			}
			must(t, r.sandbox.Write(801, "x"))
			must(t, r.sandbox.Write(802, "x"))
			r.poll(10 * time.Minute)
			r.wantHeard("text 802 ")
			if got := fmt.Sprint(r.stored()); got != "[unreadable text]" {
				t.Errorf("%s: stored %s", name, got)
			}
		})
	}
}

func TestPressedButtonsAreAnswered(t *testing.T) {
	inEnv(t, func(r *env) {
		sent := r.client.Call(context.Background(), callOf("sendMessage", map[string]any{"chat_id": 801, "text": "x"}))
		if !sent.OK {
			t.Fatal(sent.Detail)
		}
		must(t, r.sandbox.Press(801, sent.RemoteID, "x"))
		r.poll(time.Minute)
		r.wantHeard("press 801 ")
		calls := r.calls("answerCallbackQuery")
		if len(calls) != 1 || calls[0].Status != 200 {
			t.Errorf("answered: %+v", calls)
		}

		r.fault(sandbox.Fault{Method: "answerCallbackQuery", Times: 1, Respond: sandbox.Respond{RetryAfter: seconds(600)}})
		for range 3 {
			must(t, r.sandbox.Press(801, sent.RemoteID, "x"))
			r.poll(time.Minute)
		}
		if n := len(r.calls("answerCallbackQuery")); n != 2 {
			t.Errorf("%d answers while the method had to wait", n-1)
		}
		if n := len(r.heard()); n != 4 {
			t.Errorf("heard %d presses", n)
		}
	})
}

func TestNothingIsAskedWhileHeld(t *testing.T) {
	inEnv(t, func(r *env) {
		r.hold = errors.New("the database belongs to another bot")
		r.poll(10 * time.Minute)
		if n := len(r.sandbox.Calls()); n != 0 {
			t.Errorf("%d calls", n)
		}
		if s := r.poller.Status(time.Now()); s.Code != NotReceiving || s.Detail != r.hold.Error() {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestOnceTakesWhatWaits(t *testing.T) {
	inEnv(t, func(r *env) {
		for i := range 250 {
			must(t, r.sandbox.Write(int64(1000+i), "x"))
		}
		before := time.Now()
		n, err := r.poller.Once(context.Background())
		if n != 250 || err != nil || len(r.heard()) != 250 {
			t.Errorf("received %d, %v; heard %d", n, err, len(r.heard()))
		}
		if took := time.Since(before); took > 10*time.Second {
			t.Errorf("it waited %v for more", took)
		}
		if info, _ := r.client.WebhookInfo(context.Background()); info.PendingUpdateCount != 0 {
			t.Errorf("%d are not confirmed", info.PendingUpdateCount)
		}
		r.wire.cut.Store(true)
		if _, err := r.poller.Once(context.Background()); err == nil {
			t.Error("no error without a way to Telegram")
		}
	})
}
