package e2e

import (
	"fmt"
	"testing"
	"time"

	"notifier/internal/outbox"
	"notifier/internal/telegram/sandbox"
)

func TestDC1ABlockedChatIsStoppedAtTheFirstRefusal(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		if err := c.sandbox.Block(601); err != nil {
			t.Fatal(err)
		}
		var dead, alive []int64
		for i := range 5 {
			dead = append(dead, c.queue(601, fmt.Sprint(i)))
			alive = append(alive, c.queue(602, fmt.Sprint(i)))
		}
		c.run(time.Minute)
		if n := len(c.sends(601)); n != 1 {
			t.Errorf("%d calls to the blocked chat", n)
		}
		for _, id := range dead {
			if m := c.message(id); m.State != outbox.StateDead || m.Reason != outbox.ReasonChatDead {
				t.Errorf("message %d is %s (%s)", id, m.State, m.Reason)
			}
		}
		c.wantSent(alive...)
		c.wantTexts(602, "0", "1", "2", "3", "4")
		r := c.chat(601)
		if r.State != outbox.RecipientDead || r.Reason != outbox.RecipientBlocked || r.Since.IsZero() || r.Detail == "" {
			t.Errorf("the chat is %+v", r)
		}
	})
}

func TestDC2Every403MeansADeadChat(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		want := map[int64][2]string{
			611: {"Forbidden: user is deactivated", outbox.RecipientDeactivated},
			612: {"Forbidden: bot can't initiate conversation with a user", outbox.RecipientNeverStarted},
			613: {"Forbidden: bot was kicked from the supergroup chat", outbox.RecipientKicked},
			614: {"Forbidden: words nobody has heard of", outbox.RecipientOther},
		}
		for chat, w := range want {
			c.fault(sandbox.Fault{ChatID: chat, Respond: sandbox.Respond{Status: 403, Description: w[0]}})
			c.queue(chat, "x")
			c.queue(chat, "y")
		}
		c.run(time.Minute)
		for chat, w := range want {
			if n := len(c.sends(chat)); n != 1 {
				t.Errorf("%q: %d calls", w[0], n)
			}
			if r := c.chat(chat); r.State != outbox.RecipientDead || r.Reason != w[1] {
				t.Errorf("%q: the chat is %s (%s)", w[0], r.State, r.Reason)
			}
		}
	})
}

func TestDC4ARejectedTokenStopsAndLosesNothing(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		var ids []int64
		for i := range int64(200) {
			ids = append(ids, c.queue(2000+i, "x"))
		}
		c.fault(sandbox.Fault{Duration: 2 * time.Minute, Respond: sandbox.Respond{Status: 401}})
		c.run(time.Minute)
		if s := c.status(); s.State != outbox.SenderStopped {
			t.Errorf("the sender is %+v", s)
		}
		c.run(time.Minute)
		if n := len(c.sandbox.Calls()); n > 60 {
			t.Errorf("%d calls while the token was rejected", n)
		}
		c.run(2 * time.Minute)
		c.wantSent(ids...)
		if n := len(c.sandbox.Messages()); n != 200 {
			t.Errorf("%d were delivered", n)
		}
		if s := c.status(); s.State != outbox.SenderRunning {
			t.Errorf("the sender is %+v", s)
		}
	})
}

func TestDC5AGroupThatBecameASupergroup(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{ChatID: -4455, Respond: sandbox.Respond{Status: 400, MigrateToChatID: -1009876500001}})
		for i := range 3 {
			c.queue(-4455, fmt.Sprint(i))
		}
		c.run(time.Minute)
		c.wantTexts(-1009876500001, "0", "1", "2")
		before := len(c.sends(-4455))
		c.queue(-4455, "next")
		c.run(time.Minute)
		c.wantTexts(-1009876500001, "0", "1", "2", "next")
		if n := len(c.sends(-4455)); n != before || before != 1 {
			t.Errorf("%d calls to the old id, then %d", before, n-before)
		}
		if r := c.chat(-4455); r.Address != "-1009876500001" || r.State != outbox.RecipientOpen {
			t.Errorf("the old id stands for %+v", r)
		}
	})
}

func TestAStagingTokenKillsNoChat(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.queue(901, "from the shop's bot")
		c.run(time.Second)
		calls := len(c.sandbox.Calls())
		c.token = "456:staging"
		c.fault(sandbox.Fault{Respond: sandbox.Respond{Status: 400, Description: "Bad Request: chat not found"}})
		c.restart()
		id := c.queue(901, "x")
		c.run(24 * time.Hour)
		if n := len(c.sandbox.Calls()) - calls; n != 0 {
			t.Errorf("another bot made %d calls", n)
		}
		if r := c.chat(901); r.State != outbox.RecipientOpen {
			t.Errorf("the chat is %+v", r)
		}
		c.token = "123:token"
		c.sandbox.ClearFaults()
		c.restart()
		c.run(time.Minute)
		c.wantSent(id)
	})
}

func TestAnHTML403KillsNoChat(t *testing.T) {
	inEnv(t, nil, func(c *env) {
		c.fault(sandbox.Fault{Duration: time.Hour, Respond: sandbox.Respond{Status: 403,
			Body: page("<html><h1>403 Forbidden</h1><center>nginx</center></html>"), ContentType: "text/html"}})
		var ids []int64
		for i := range int64(10) {
			ids = append(ids, c.queue(900+i, "x"))
		}
		c.run(time.Hour)
		for i := range int64(10) {
			if r := c.chat(900 + i); r.State != outbox.RecipientOpen {
				t.Errorf("chat %d is %+v", 900+i, r)
			}
		}
		c.run(5 * time.Minute)
		c.wantSent(ids...)
	})
}
