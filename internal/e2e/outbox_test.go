package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/database"
	"notifier/internal/outbox"
	"notifier/internal/telegram/sandbox"
)

func TestOB3ASlowServerAndTwoPassesAtOnce(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.limits(func(l *sandbox.Limits) { l.Latency = 2 * time.Second })
		var ids []int64
		for i := range int64(100) {
			ids = append(ids, c.queue(600+i, "x"))
		}
		done := make(chan struct{}, 2)
		for range 2 {
			go func() {
				_, _ = c.sender.Dispatch(context.Background())
				done <- struct{}{}
			}()
		}
		<-done
		<-done
		c.wantSent(ids...)
		if n := len(c.sends(0)); n != 100 {
			t.Errorf("%d calls for 100 messages", n)
		}
	})
}

func TestOB4OrderInsideAChatSurvivesRetriesAndAKill(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprint("kill ", kill), func(t *testing.T) {
			inEnv(t, nil, func(c *env) {
				c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 701, Times: 2, Respond: sandbox.Respond{Status: 500}})
				var ids []int64
				for i := range 3 {
					ids = append(ids, c.queue(701, fmt.Sprint(i)))
				}
				c.queue(702, "x")
				c.run(1500 * time.Millisecond)
				c.wantTexts(702, "x")
				if kill {
					c.restart()
				}
				c.run(2 * time.Minute)
				c.wantTexts(701, "0", "1", "2")
				for _, id := range ids {
					if m := c.message(id); m.State != outbox.StateSent {
						t.Errorf("message %d is %s", id, m.State)
					}
				}
				if n := len(c.sends(701)); n != 5 {
					t.Errorf("%d calls", n)
				}
			})
		})
	}
}

func TestOB5APoisonMessageBlocksNeitherItsChatNorTheQueue(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Method: "sendMessage", ChatID: 711, Times: 2, Respond: sandbox.Respond{
			Status: 400, Description: "Bad Request: can't parse entities: unclosed start tag at byte offset 3"}})
		poison := c.queue(711, "poison")
		c.queue(711, "two")
		c.queue(711, "three")
		for i := range int64(200) {
			c.queue(1000+i, "x")
		}
		c.run(30 * time.Second)
		m := c.message(poison)
		if m.State != outbox.StateDead || m.Reason != outbox.ReasonRejected || !strings.Contains(m.Detail, "parse entities") {
			t.Errorf("the poison is %s (%s): %s", m.State, m.Reason, m.Detail)
		}
		c.wantTexts(711, "two", "three")
		if n := len(c.sends(711)); n != 4 {
			t.Errorf("%d calls for the chat, two of them for the poison", n)
		}
		if n := len(c.sandbox.Messages()); n != 202 {
			t.Errorf("%d were delivered", n)
		}
	})
}

func TestOB6ALongOutageIsSurvivedInFull(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		var ids []int64
		for i := range 100 {
			ids = append(ids, c.queue(int64(600+i%50), fmt.Sprint(i/50)))
		}
		c.wire.cut.Store(true)
		c.run(6 * time.Hour)
		c.fault(sandbox.Fault{Duration: 6 * time.Hour, Respond: sandbox.Respond{Status: 502,
			Body: page("<html>502 Bad Gateway</html>"), ContentType: "text/html"}})
		c.wire.cut.Store(false)
		c.run(6 * time.Hour)
		c.wire.cut.Store(true)
		c.run(2 * time.Hour)
		if n := len(c.sandbox.Calls()); n > 800 { // one getMe a minute in the six hours of pages, and little else
			t.Errorf("%d calls reached the server during the outage", n)
		}
		if n := len(c.sends(0)); n > 5 {
			t.Errorf("%d of them were messages", n)
		}
		c.wire.cut.Store(false)
		c.run(3 * time.Minute)
		c.wantSent(ids...)
		for i := range int64(50) {
			c.wantTexts(600+i, "0", "1")
		}
		if s := c.sandbox.Stats(); s.TooManyRequests != 0 || s.MaxPerSecond > 28 {
			t.Errorf("after the outage: %+v", s)
		}
	})
}

func TestOB7HTMLFromTheGateway(t *testing.T) {
	long := "<html><body>" + strings.Repeat("gateway ", 2500) + "</body></html>"
	for _, status := range []int{502, 504, 200} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			inEnv(t, nil, func(c *env) {
				times := 2
				if status != 502 {
					times = 1 // Telegram may have taken it: there is one more try
				}
				c.fault(sandbox.Fault{Method: "sendMessage", Times: times, Respond: sandbox.Respond{
					Status: status, Body: &long, ContentType: "text/html"}})
				id := c.queue(720, "x")
				c.run(2 * time.Second)
				if m := c.message(id); len(m.Detail) > 200 || !strings.Contains(m.Detail, fmt.Sprint(status)) || strings.Contains(m.Detail, "gateway gateway") {
					t.Errorf("the stored reason is %q", m.Detail)
				}
				c.run(5 * time.Minute)
				if m := c.message(id); m.State != outbox.StateSent {
					t.Errorf("the message is %s (%s)", m.State, m.Detail)
				}
				c.wantTexts(720, "x")
			})
		})
	}
}

func TestOB10BringingADeadMessageBack(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{ChatID: 740, Respond: sandbox.Respond{Status: 400, Description: "Bad Request: message is too long"}})
		id := c.queue(740, "x")
		c.run(time.Second)
		if m := c.message(id); m.State != outbox.StateDead {
			t.Fatalf("the message is %s", m.State)
		}
		c.sandbox.ClearFaults()
		for range 2 { // a double click
			c.write(func(tx database.Tx) error {
				m, err := c.box.Retry(tx, time.Now(), id, false)
				if err == nil && (m.State != outbox.StatePending || m.Failures != 0) {
					t.Errorf("after the retry it is %s with %d failures", m.State, m.Failures)
				}
				return err
			})
		}
		c.restart()
		c.run(time.Minute)
		c.wantSent(id)
		c.wantTexts(740, "x")
	})
}

func TestOB10ADeadChatRefusesARetryClearly(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		_ = c.sandbox.Block(741)
		id := c.queue(741, "x")
		c.run(time.Second)
		err := c.db.Write(context.Background(), func(tx database.Tx) error {
			_, err := c.box.Retry(tx, time.Now(), id, true)
			return err
		})
		conflict, ok := err.(*outbox.ConflictError) //nolint:errorlint // it is returned as it is
		if !ok || conflict.Code != outbox.ConflictChatDead {
			t.Errorf("a retry for a dead chat: %v", err)
		}
		_ = c.sandbox.Unblock(741)
		c.write(func(tx database.Tx) error {
			if _, err := c.box.Revive(tx, time.Now(), "741"); err != nil {
				return err
			}
			_, err := c.box.Retry(tx, time.Now(), id, false)
			return err
		})
		c.run(time.Minute)
		c.wantSent(id)
	})
}

func TestOB12TheWakeUpIsNeverLost(t *testing.T) {
	inEnv(t, func(s *settings) { s.batch = 20 }, func(c *env) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := c.sender.Run(ctx, every(time.Minute), nil); err != nil {
				t.Error(err)
			}
		}()
		placed := map[string]time.Time{}
		for i := range 500 {
			text := fmt.Sprint("single ", i)
			placed[text] = time.Now()
			c.queue(int64(1000+i), text)
			time.Sleep(time.Duration(1+(i*37)%300) * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		sent := c.sandbox.Messages()
		if len(sent) != 500 {
			t.Fatalf("%d of 500 were sent", len(sent))
		}
		for _, m := range sent {
			if took := m.ReceivedAt.Sub(placed[m.VisibleText]); took > 2*time.Second {
				t.Errorf("%s took %v", m.VisibleText, took)
			}
		}
		began := time.Now()
		for i := range 250 {
			c.queue(int64(2000+i), "burst")
		}
		time.Sleep(10 * time.Second)
		if n := len(c.sandbox.Messages()); n != 750 {
			t.Errorf("%d of the burst of 250 were sent in %v", n-500, time.Since(began))
		}
		c.fault(sandbox.Fault{ChatID: 3000, Times: 1, Respond: sandbox.Respond{Status: 429, RetryAfter: seconds(5)}})
		began = time.Now()
		c.queue(3000, "retry")
		time.Sleep(10 * time.Second)
		sent = c.sandbox.Messages()
		if took := sent[len(sent)-1].ReceivedAt.Sub(began); len(sent) != 751 || took < 5*time.Second || took > 7*time.Second {
			t.Errorf("the retry was sent after %v", took)
		}
		cancel()
		<-ended
	})
}
