package sandbox

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTooManyRequests(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.accepted(r.send(7), nil)
		answer := r.send(7)
		r.refused(answer, 429, "Too Many Requests: retry after 1")
		if answer.Parameters.RetryAfter != "1" || answer.header.Get("Retry-After") != "1" {
			t.Errorf("header %v, %s", answer.header, answer.body)
		}
		time.Sleep(time.Second)
		r.accepted(r.send(7), nil)
		want := Stats{Calls: 3, Delivered: 2, TooManyRequests: 1, MaxPerSecond: 1}
		if got := r.Stats(); got != want {
			t.Errorf("%+v", got)
		}
	})
}

func TestViolationsAreCounted(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 0.1})
		r.send(7)
		r.refused(r.send(7), 429, "Too Many Requests: retry after 10")
		r.send(8)
		time.Sleep(5 * time.Second)
		r.refused(r.send(7), 429, "Too Many Requests: retry after 5")
		time.Sleep(5 * time.Second)
		r.accepted(r.send(7), nil)
		if got := r.Stats().Violations; got != 1 {
			t.Errorf("%d violations", got)
		}
		if got := r.Calls()[3].Violated; len(got) != 1 || got[0] != "chat" {
			t.Errorf("%v", got)
		}
	})
}

// A crowd of calls comes at once; those that can be held are delivered in their
// turn, exactly at the limit.
func TestHeldCallsKeepTheLimit(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{BotPerSecond: 5, Hold: 3 * time.Second})
		start := time.Now()
		var crowd sync.WaitGroup
		for chatID := int64(1); chatID <= 25; chatID++ {
			crowd.Go(func() {
				answer := r.send(chatID)
				if answer.OK || answer.Parameters.RetryAfter == "4" {
					return
				}
				t.Errorf("%s", answer.body)
			})
		}
		crowd.Wait()
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("the last was held for %v", waited)
		}
		want := Stats{Calls: 25, Delivered: 20, TooManyRequests: 5, MaxPerSecond: 5}
		got := r.Stats()
		got.Violations = 0 // whether the crowd came before the first 429 is chance
		if got != want {
			t.Errorf("%+v", got)
		}
	})
}

// The server goes on with a call whose client has given up.
func TestHeldMessageOutlivesItsClient(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 0.2, Hold: 10 * time.Second})
		r.send(7)
		impatient := &rig{r.Sandbox, t, r.url, &http.Client{Transport: r.client.Transport, Timeout: 2 * time.Second}}
		if answer, err := impatient.try("sendMessage", fields{"chat_id": 7, "text": "x"}); err == nil {
			t.Fatalf("answered %s", answer.body)
		}
		if n := r.Stats().Delivered; n != 1 {
			t.Fatalf("%d delivered when the client left", n)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if n := len(r.WaitMessages(r.t.Context(), 7)); n != 2 {
			t.Errorf("%d delivered in the end", n)
		}
	})
}

func TestHeldMessageMeetsABlock(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 1, Hold: time.Second})
		r.send(7)
		time.AfterFunc(time.Second/2, func() { _ = r.Block(7) })
		r.refused(r.send(7), 403, "Forbidden: bot was blocked by the user")
	})
}

func TestLatencyComesBeforeTheLimits(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 1, Latency: 200 * time.Millisecond})
		start := time.Now()
		r.send(7)
		message := r.Messages()[0]
		if got := message.ReceivedAt.Sub(start); got != 200*time.Millisecond {
			t.Errorf("counted %v after it was sent", got)
		}
		call := r.Calls()[0]
		if call.ReceivedAt.Sub(start) != 0 || call.AnsweredAt.Sub(start) != 200*time.Millisecond {
			t.Errorf("%+v", call)
		}
	})
}

func TestLimitsOfTwoBotsAreApart(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{BotPerSecond: 1, ChatPerSecond: 1})
		r.accepted(r.send(7), nil)
		answer, err := r.do(request(http.MethodGet, r.url+"/bot9:x/sendMessage?chat_id=7&text=x", "", ""))
		if err != nil {
			t.Fatal(err)
		}
		r.accepted(answer, nil)
	})
}

func TestCloseEndsWhatWaits(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{ChatPerSecond: 0.01, Hold: 200 * time.Second})
		r.send(7)
		time.AfterFunc(time.Second, r.Close)
		if answer, err := r.try("sendMessage", fields{"chat_id": 7, "text": "x"}); err == nil {
			t.Errorf("answered %s", answer.body)
		}
	})
}
