package updates

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

func TestPollerStoresAndConfirms(t *testing.T) {
	inEnv(t, func(r *env) {
		must(t, r.sandbox.Start(801, "abc"))
		go func() {
			time.Sleep(45 * time.Second)
			must(t, r.sandbox.Write(802, "hello"))
			must(t, r.sandbox.Block(801))
		}()
		r.poll(2 * time.Minute)
		r.wantHeard("start 801 abc", "text 802 ", "blocked 801 ")
		for _, c := range r.calls("getUpdates") {
			if c.Params["allowed_updates"] != `["message","callback_query","my_chat_member"]` {
				t.Errorf("asked for %s", c.Params["allowed_updates"])
			}
		}
		if n := len(r.calls("getUpdates")); n > 12 {
			t.Errorf("%d calls in two quiet minutes", n)
		}
		r.wantStatus(Receiving)
		r.reopen()
		r.poll(time.Minute)
		if got := len(r.heard()); got != 3 {
			t.Errorf("%d effects after a restart", got)
		}
	})
}

func TestUP3AnUpdateThatComesAgainAfterAKillHasOneEffect(t *testing.T) {
	for _, died := range []string{"before the update is stored", "after it is stored, before it is confirmed"} {
		inEnv(t, func(r *env) {
			must(t, r.sandbox.Start(801, "abc"))
			ctx, kill := context.WithCancel(context.Background())
			defer kill()
			r.effect = func(Event) error {
				kill()
				if strings.HasPrefix(died, "before") {
					return errors.New("killed")
				}
				return nil
			}
			r.poller.Run(ctx)
			r.effect = nil
			r.reopen()
			r.poll(time.Minute)
			r.wantHeard("start 801 abc")
			r.reopen()
			r.poll(time.Minute)
			r.wantHeard("start 801 abc")
		})
	}
}

func TestUP7AWebhookIsRemovedAndItsUpdatesAreKept(t *testing.T) {
	inEnv(t, func(r *env) {
		if reply := r.client.SetWebhook(context.Background(), "http://shop.invalid/hook", secretOf("s3cret")); !reply.OK {
			t.Fatal(reply.Detail)
		}
		r.wire.cut.Store(false)
		for i := range 3 {
			must(t, r.sandbox.Write(801, fmt.Sprint("message ", i)))
		}
		r.poll(time.Minute)
		r.wantHeard("text 801 ", "text 801 ", "text 801 ")
		info, _ := r.client.WebhookInfo(context.Background())
		if info.URL != "" || info.PendingUpdateCount != 0 {
			t.Errorf("the webhook is %+v", info)
		}
		if n := len(r.calls("deleteWebhook")); n != 1 {
			t.Errorf("%d times removed", n)
		}
	})
}

func TestAWebhookThatIsSetWhilePollingIsSomebodysWill(t *testing.T) {
	inEnv(t, func(r *env) {
		go func() {
			time.Sleep(10 * time.Second)
			r.client.SetWebhook(context.Background(), "http://shop.invalid/hook", secretOf("s3cret"))
		}()
		r.poll(10 * time.Minute)
		s := r.poller.Status(time.Now())
		if s.Code != NotReceiving || !strings.Contains(s.Detail, "webhook") {
			t.Errorf("the status is %+v", s)
		}
		if n := len(r.calls("deleteWebhook")); n != 1 {
			t.Errorf("%d times removed: two programs that fight", n)
		}
		if n := len(r.calls("getUpdates")); n > 20 {
			t.Errorf("%d calls in ten minutes of conflict", n)
		}
		r.client.DeleteWebhook(context.Background())
		must(t, r.sandbox.Write(801, "x"))
		r.poll(2 * time.Minute)
		r.wantHeard("text 801 ")
		r.wantStatus(Receiving)
	})
}

func TestAnotherPollerIsNotFought(t *testing.T) {
	inEnv(t, func(r *env) {
		r.fault(sandbox.Fault{Method: "getUpdates", Duration: 5 * time.Minute, Respond: sandbox.Respond{Status: 409,
			Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}})
		r.poll(5 * time.Minute)
		s := r.poller.Status(time.Now())
		if s.Code != NotReceiving || !strings.Contains(s.Detail, "another program") {
			t.Errorf("the status is %+v", s)
		}
		if n := len(r.calls("getUpdates")); n < 5 || n > 15 {
			t.Errorf("%d calls in five minutes of conflict", n)
		}
		must(t, r.sandbox.Write(801, "x"))
		r.poll(time.Minute)
		r.wantHeard("text 801 ")
	})
}

func TestA429OnUpdatesHoldsUpdatesAlone(t *testing.T) {
	inEnv(t, func(r *env) {
		r.fault(sandbox.Fault{Method: "getUpdates", Times: 1, Respond: sandbox.Respond{RetryAfter: seconds(40)}})
		must(t, r.sandbox.Write(801, "x"))
		r.poll(time.Minute)
		calls := r.calls("getUpdates")
		if gap := calls[1].ReceivedAt.Sub(calls[0].AnsweredAt); gap < 40*time.Second || gap > 41*time.Second {
			t.Errorf("asked again after %v", gap)
		}
		r.wantHeard("text 801 ")
	})
}

func TestARejectedTokenIsProbed(t *testing.T) {
	inEnv(t, func(r *env) {
		r.fault(sandbox.Fault{Duration: 10 * time.Minute, Respond: sandbox.Respond{Status: 401}})
		must(t, r.sandbox.Write(801, "x"))
		r.poll(10 * time.Minute)
		r.wantStatus(Refused)
		if n := len(r.sandbox.Calls()); n < 5 || n > 20 {
			t.Errorf("%d calls in ten minutes", n)
		}
		r.poll(2 * time.Minute)
		r.wantStatus(Receiving)
		r.wantHeard("text 801 ")
	})
}

func TestNotReceivingAfterAMinute(t *testing.T) {
	inEnv(t, func(r *env) {
		r.poll(time.Minute + time.Second) // the last answer came a second ago
		r.wire.cut.Store(true)
		r.poll(58 * time.Second)
		r.wantStatus(Receiving)
		r.poll(time.Hour)
		r.wantStatus(NotReceiving)
		must(t, r.sandbox.Write(801, "x"))
		r.wire.cut.Store(false)
		r.poll(time.Minute)
		r.wantStatus(Receiving)
		r.wantHeard("text 801 ")
	})
}

func TestUP9AHangingTelegramIsNotReceiving(t *testing.T) {
	inEnv(t, func(r *env) {
		r.fault(sandbox.Fault{Respond: sandbox.Respond{Hang: true}})
		r.poll(2 * time.Minute)
		r.wantStatus(NotReceiving)
		r.sandbox.ClearFaults()
		must(t, r.sandbox.Write(801, "x"))
		r.poll(2 * time.Minute)
		r.wantHeard("text 801 ")
	})
}

func TestIDsThatJumpDownAreHeard(t *testing.T) {
	inEnv(t, func(r *env) {
		r.answers(words(2_000_000_000, 801))
		r.answers(``)
		r.answers(words(5, 802) + "," + words(6, 803))
		r.answers(words(3, 804))
		r.poll(time.Minute)
		r.wantHeard("text 801 ", "text 802 ", "text 803 ", "text 804 ")
		if got := fmt.Sprint(r.offsets()[:6]); got != "[0 2000000001 0 7 4 0]" {
			t.Errorf("offsets %s", got)
		}
	})
}

func TestIDsAreKnownForTwoDays(t *testing.T) {
	inEnv(t, func(r *env) {
		for range 2 {
			r.answers(words(7, 801))
			r.poll(time.Minute)
		}
		r.wantHeard("text 801 ")
		time.Sleep(48*time.Hour - 3*time.Minute)
		r.answers(words(7, 801))
		r.poll(time.Second)
		r.wantHeard("text 801 ")
		time.Sleep(3 * time.Minute)
		r.answers(words(7, 801))
		r.poll(time.Second)
		r.wantHeard("text 801 ", "text 801 ")
	})
}

func TestWhoRepeatsHimselfIsNotAskedInACircle(t *testing.T) {
	for name, body := range map[string]string{
		"the same for ever":   `{"ok":true,"result":[` + words(7, 801) + `]}`,
		"nothing, at once":    `{"ok":true,"result":[]}`,
		"no id":               `{"ok":true,"result":[{"message":{}}]}`,
		"no list":             `{"ok":true,"result":{}}`,
		"a page":              `<html>hello</html>`,
		"the highest id":      `{"ok":true,"result":[{"update_id":9223372036854775807}]}`,
		"broken in the first": `{"ok":true,"result":[{"update_id":7,"message":{"chat"`,
	} {
		inEnv(t, func(r *env) {
			r.fault(sandbox.Fault{Method: "getUpdates", Respond: sandbox.Respond{Status: 200, Body: &body}})
			r.poll(10 * time.Minute)
			if n := len(r.calls("getUpdates")); n < 10 || n > 650 {
				t.Errorf("%s: %d calls in ten minutes", name, n)
			}
		})
	}
}
