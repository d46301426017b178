package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

func TestRL1TheAnnouncedWaitIsHonouredAndCostsNoAttempt(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 501, Times: c.policy.MaxAttempts + 2,
			Respond: sandbox.Respond{Status: 429, RetryAfter: seconds(3)}})
		id := c.queue(501, "hello")
		c.run(time.Minute)
		c.wantSent(id)
		calls := c.sends(501)
		if len(calls) != c.policy.MaxAttempts+3 {
			t.Errorf("%d calls", len(calls))
		}
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].ReceivedAt.Sub(calls[i-1].AnsweredAt); gap < 3*time.Second || gap > 5*time.Second {
				t.Errorf("gap %d is %v, want 3 to 5 s", i, gap)
			}
		}
	})
}

func TestRL2AFloodedChatDoesNotStopTheOthers(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 501, Respond: sandbox.Respond{Status: 429, RetryAfter: seconds(8288)}})
		began := time.Now()
		flooded := c.queue(501, "late")
		var others []int64
		for i := range int64(50) {
			others = append(others, c.queue(600+i, "soon"))
		}
		c.run(5 * time.Second)
		c.wantSent(others...)
		if m := c.message(flooded); m.State != "pending" {
			t.Errorf("the flooded message is %s", m.State)
		}
		until := c.chat(501).GateUntil.Sub(began)
		if until < 8288*time.Second || until > 8290*time.Second {
			t.Errorf("the chat's gate ends after %v", until)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := c.sender.Run(ctx, every(time.Second), nil); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(10 * time.Second)
		asked := time.Now()
		cancel()
		<-ended
		if took := time.Since(asked); took > time.Second {
			t.Errorf("it took %v to stop", took)
		}
	})
}

func TestRL3TheWaitSurvivesAKill(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 501, Times: 1, Respond: sandbox.Respond{Status: 429, RetryAfter: seconds(60)}})
		began := time.Now()
		id := c.queue(501, "x")
		c.run(2 * time.Second)
		c.restart()
		c.run(2 * time.Minute)
		c.wantSent(id)
		calls := c.sends(501)
		if len(calls) != 2 || calls[1].ReceivedAt.Sub(began) < time.Minute {
			t.Errorf("%d calls, the last after %v", len(calls), calls[len(calls)-1].ReceivedAt.Sub(began))
		}
	})
}

func TestRL5ABatchLargerThanTheRate(t *testing.T) {
	inEnv(t, func(s *settings) { s.rates.Bot, s.batch = 5, 100 }, func(c *env) {
		began := time.Now()
		for i := range int64(20) {
			c.queue(600+i, "x")
		}
		c.run(time.Minute)
		sent := c.sandbox.Messages()
		if len(sent) != 20 {
			t.Fatalf("%d were sent", len(sent))
		}
		if took := sent[19].ReceivedAt.Sub(began); took < 3700*time.Millisecond || took > 4500*time.Millisecond {
			t.Errorf("20 messages at 5 a second took %v", took)
		}
	})
}

func TestRL7OneChatOneMessageASecondInOrder(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		for step := range 6 {
			c.queue(701, fmt.Sprint("step ", step))
		}
		for i := range int64(20) {
			c.queue(710+i, "x")
		}
		began := time.Now()
		c.run(time.Minute)
		c.wantTexts(701, "step 0", "step 1", "step 2", "step 3", "step 4", "step 5")
		var last time.Time
		for _, m := range c.sandbox.Messages() {
			switch {
			case m.ChatID != 701:
				if took := m.ReceivedAt.Sub(began); took > time.Second {
					t.Errorf("chat %d waited %v", m.ChatID, took)
				}
			case !last.IsZero() && m.ReceivedAt.Sub(last) < time.Second:
				t.Errorf("two messages to one chat within %v", m.ReceivedAt.Sub(last))
			default:
				last = m.ReceivedAt
			}
		}
		if n := c.sandbox.Stats().TooManyRequests; n != 0 {
			t.Errorf("%d calls were too many", n)
		}
	})
}

// The time it takes to send as fast as the limits allow, without meeting one.
func TestNineHundredMessagesWithoutA429(t *testing.T) {
	for name, chat := range map[string]func(i int) int64{
		"round robin":  func(i int) int64 { return int64(1000 + i%300) },
		"chat by chat": func(i int) int64 { return int64(1000 + i/3) },
	} {
		t.Run(name, func(t *testing.T) {
			inEnv(t, nil, func(c *env) {
				c.limits(func(l *sandbox.Limits) { l.Latency = 60 * time.Millisecond })
				for i := range 900 {
					c.queue(chat(i), fmt.Sprint(i))
				}
				began := time.Now()
				c.run(40 * time.Second)
				sent := c.sandbox.Messages()
				if len(sent) != 900 {
					t.Fatalf("%d were sent", len(sent))
				}
				took, limit := sent[899].ReceivedAt.Sub(began), 1.05*900/28*float64(time.Second)
				t.Logf("900 messages took %v, allowed are %v", took, time.Duration(limit))
				if float64(took) > limit {
					t.Errorf("900 messages took %v, allowed are %v", took, time.Duration(limit))
				}
				last := map[int64]int{}
				seen := map[string]bool{}
				for _, m := range sent {
					var n int
					_, _ = fmt.Sscan(m.VisibleText, &n)
					if before, ok := last[m.ChatID]; ok && before > n {
						t.Errorf("chat %d got %d after %d", m.ChatID, n, before)
					}
					if last[m.ChatID] = n; seen[m.VisibleText] {
						t.Errorf("%d was repeated", n)
					}
					seen[m.VisibleText] = true
				}
				if n := c.sandbox.Stats().TooManyRequests; n != 0 {
					t.Errorf("%d calls were too many", n)
				}
			})
		})
	}
}
