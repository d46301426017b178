package e2e

import (
	"fmt"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// blocked is Telegram's answer for a chat whose customer has left.
var blocked = sandbox.Respond{Status: 403, Description: "Forbidden: bot was blocked by the user"}

// acceptedChats lets n chats from the first on accept a message, so that a refusal of theirs is news.
func (c *coreEnv) acceptedChats(v *service, first, n int64) {
	c.t.Helper()
	for chat := first; chat < first+n; chat++ {
		id := c.say(v, chat, "hello")
		c.wantState(v, id, "sent", 10*time.Second)
	}
}

// Answers that come while another program holds the write lock are recorded together. What one of
// them means for the others – here that five refusals in a row are no five customers who left – must
// reach those of the same commit too.
func TestH2AnswersThatShareACommit(t *testing.T) {
	t.Parallel()
	t.Run("five refusals", func(t *testing.T) {
		t.Parallel()
		c := newCoreEnv(t)
		v := c.serve()
		c.acceptedChats(v, 1, 5)
		respond := blocked
		respond.Delay = 2 * time.Second
		ids := c.answeredTogether(v, 5, respond)
		// The guard against mass death lets one message try each minute, and ends with an acceptance.
		end := time.Now().Add(100 * time.Second)
		for _, id := range ids {
			c.wantState(v, id, "sent", max(time.Until(end), time.Second))
		}
		c.endTold(v)
	})
	t.Run("the last failure among those of an outage", func(t *testing.T) {
		t.Parallel()
		c := newCoreEnv(t, "NOTIFIER_MAX_ATTEMPTS=1")
		v := c.serve()
		ids := c.answeredTogether(v, 3, sandbox.Respond{Status: 500, Delay: 2 * time.Second})
		end := time.Now().Add(40 * time.Second)
		for _, id := range ids {
			c.wantState(v, id, "sent", max(time.Until(end), time.Second))
		}
		c.endTold(v)
	})
}

// answeredTogether sends a message to each of the chats 1 to n, and lets all be answered while the
// write lock is held.
func (c *coreEnv) answeredTogether(v *service, n int, r sandbox.Respond) (ids []int64) {
	c.t.Helper()
	c.fault(0, n, r)
	for chat := range n {
		ids = append(ids, c.say(v, int64(chat+1), "one of those together"))
	}
	c.waitOpen(n)
	release := c.holdWrites()
	c.waitOpen(0)
	time.Sleep(300 * time.Millisecond) // the answers are on their way, and nothing shows their arrival
	release()
	return ids
}

// endTold stops the service and says what its sender was like, when something has failed.
func (c *coreEnv) endTold(v *service) {
	c.t.Helper()
	if c.t.Failed() {
		sender := c.show(v, "/sender")
		c.t.Logf("sender: %v %v; problems: %s", sender["state"], sender["reason"], c.problems(v))
	}
	c.end(v)
}

// Five refusals in a row are five in a row whatever people do between them: cancel a message, link a
// customer. No chat dies of our own fault.
func TestH4TheGuardAgainstMassDeathCountsFive(t *testing.T) {
	t.Parallel()
	const chats = 20
	c := newCoreEnv(t)
	v := c.serve()
	c.acceptedChats(v, 1, chats)
	c.fault(0, 0, blocked)
	guarded := func() bool { return c.show(v, "/sender")["state"] != "running" }
	refused := 0
	for chat := int64(1); chat <= chats && !guarded(); chat++ {
		id := c.say(v, chat, "refused")
		c.wait(10*time.Second, "the refusal was recorded", func() bool { return c.state(v, id) == "dead" || guarded() })
		refused++
		planned := c.say(v, 5000+chat, "of another", at("notBefore", time.Hour))
		c.do(v, fmt.Sprintf("/messages/%d/cancel", planned), "{}")
		if chat%2 == 0 {
			c.do(v, "/customers/someone/link", "{}")
		}
		c.wait(10*time.Second, "the sender has seen the change", func() bool { return c.state(v, planned) == "canceled" })
	}
	dead := c.listed(v, "/chats?state=dead")
	t.Logf("%d chats were refused in a row, %d of them are dead", refused, dead)
	if refused != 5 || dead != 0 {
		t.Errorf("%d chats were refused in a row, %d of them are dead; want 5 and none", refused, dead)
	}
	c.endTold(v)
}

// Another bot has its own customers: that a chat accepted from the one before says nothing about it.
func TestH9AnotherBotStartsAfresh(t *testing.T) {
	t.Parallel()
	t.Run("with who had accepted", func(t *testing.T) {
		t.Parallel()
		const chats = 6
		c := newCoreEnv(t)
		v := c.serve()
		c.acceptedChats(v, 1, chats)
		c.end(v)
		c.settings = append(c.settings, "TELEGRAM_BOT_TOKEN=456:token")
		v = c.serve("--accept-new-bot")
		c.do(v, "/sender/resume", "{}")
		c.fault(0, 0, sandbox.Respond{Status: 403, Description: "Forbidden: bot can't initiate conversation with a user"})
		for chat := range int64(chats) {
			id := c.say(v, chat+1, "from the new bot")
			c.wantState(v, id, "dead", 15*time.Second)
		}
		if state := c.show(v, "/sender")["state"]; state != "running" {
			t.Errorf("the sender is %v", state)
		}
		c.endTold(v)
	})
	t.Run("with what its start has to know", func(t *testing.T) {
		t.Parallel()
		c := newCoreEnv(t, "NOTIFIER_SEND_TIMEOUT=10s")
		v := c.serve()
		c.fault(1, 1, sandbox.Respond{Delay: 8 * time.Second})
		first := c.say(v, 1, "paid")
		c.waitOpen(1)
		later := c.say(v, 1, "shipped")
		v.kill() // the call's attempt stays open: Telegram may have taken the message
		c.waitOpen(0)
		c.settings = append(c.settings, "TELEGRAM_BOT_TOKEN=456:token")
		v = c.serve()
		c.wait(20*time.Second, "the other bot was noticed", func() bool { return c.show(v, "/sender")["state"] == "stopped" })
		accepting := c.serve("--accept-new-bot") // a second process, which waits for the first to end
		c.do(accepting, "/sender/resume", "{}")
		c.becomesOr(100*time.Second, "the later message was sent", func() bool { return c.state(v, later) == "sent" })
		c.wantState(v, first, "sent", time.Second)
		if n := len(c.sends(1)); n > 0 {
			calls := c.sends(1)
			t.Logf("the calls to the chat: %s", textsOf(calls))
			if last := calls[n-1]; last.Params["text"] != "shipped" {
				t.Errorf("the later message was not the last: %s", textsOf(calls))
			}
		}
		c.end(accepting)
		c.endTold(v)
	})
}

func textsOf(calls []sandbox.Call) (list []string) {
	for _, call := range calls {
		list = append(list, fmt.Sprintf("%s (%s, %d)", call.Params["text"], call.Outcome, call.Status))
	}
	return list
}
