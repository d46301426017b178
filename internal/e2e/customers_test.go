package e2e

import (
	"strings"
	"testing"
	"time"

	"notifier/internal/orders"
	"notifier/internal/outbox"
	"notifier/internal/telegram/sandbox"
)

// linked places an order of c-17 and links them to a chat.
func (c *env) linked(chat int64) (order int64) {
	c.t.Helper()
	order = c.place("c-17", "A-1")
	c.must(c.sandbox.Start(chat, c.invite("c-17")))
	c.run(time.Minute)
	c.wantLines(chat, helloAnna, "Order A-1 is placed")
	return order
}

func TestDC6ComingBackAfterABlock(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		id := s.linked(801)
		before := len(s.sends(801))
		s.must(s.sandbox.Block(801))
		s.run(time.Minute)
		s.wantChat(801, outbox.RecipientDead, outbox.RecipientBlocked)
		s.change(id, orders.Paid)
		s.run(time.Minute)
		if n := len(s.sends(801)) - before; n != 0 {
			t.Errorf("%d calls to a chat that was blocked", n)
		}
		s.must(s.sandbox.Unblock(801))
		s.run(time.Minute)
		s.wantChat(801, outbox.RecipientOpen, "")
		if n := len(s.sends(801)) - before; n != 0 {
			t.Errorf("%d messages for taking back a block", n)
		}
		s.place("c-17", "A-2")
		s.run(time.Minute)
		s.must(s.sandbox.Start(801, ""))
		s.run(time.Minute)
		s.wantLines(801, helloAnna, "Order A-1 is placed", "Order A-2 is placed", helloAnna)
	})
}

func TestAWordFromADeadChatBringsItBack(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.linked(801)
		s.fault(sandbox.Fault{ChatID: 801, Times: 1, Respond: sandbox.Respond{Status: 403, Description: "Forbidden: bot was blocked by the user"}})
		s.place("c-17", "A-2")
		s.run(time.Minute)
		s.wantChat(801, outbox.RecipientDead, outbox.RecipientBlocked)
		s.must(s.sandbox.Write(801, "where is my order?"))
		s.run(time.Minute)
		s.wantChat(801, outbox.RecipientOpen, "")
		s.wantLines(801, helloAnna, "Order A-1 is placed", hint)
	})
}

func TestALateRefusalDoesNotKillWhoHasJustPressedStart(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.linked(801)
		s.fault(sandbox.Fault{Method: "sendMessage", ChatID: 801, Times: 1, Respond: sandbox.Respond{Status: 403, Description: "Forbidden: bot was blocked by the user", Delay: 10 * time.Second}})
		s.place("c-17", "A-2")
		go func() {
			time.Sleep(5 * time.Second)
			s.must(s.sandbox.Start(801, ""))
		}()
		s.run(2 * time.Minute)
		s.wantChat(801, outbox.RecipientOpen, "")
		s.wantLines(801, helloAnna, "Order A-1 is placed", helloAnna, "Order A-2 is placed")
	})
}

func TestStopAndStart(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		id := s.linked(801)
		s.limits(func(l *sandbox.Limits) { *l = sandbox.Limits{} })
		s.must(s.sandbox.Write(801, "/stop"))
		s.run(time.Minute)
		s.wantChat(801, outbox.RecipientDead, outbox.RecipientStopped)
		s.change(id, orders.Paid)
		s.must(s.sandbox.Write(801, "thanks"))
		s.run(time.Minute)
		s.must(s.sandbox.Write(801, "/orders"), s.sandbox.Write(801, "/help"), s.sandbox.Block(801))
		s.run(time.Minute)
		s.must(s.sandbox.Unblock(801))
		s.run(time.Minute)
		s.wantChat(801, outbox.RecipientDead, outbox.RecipientStopped)
		s.change(id, orders.Shipped)
		s.run(time.Minute)
		lines := s.lines(801)
		if got := strings.Join(lines[2:4], "|"); got != stopped+"|"+hint {
			t.Errorf("it reads %q", lines)
		}
		for _, shown := range s.texts(801)[3:] {
			if strings.Contains(shown, "is paid") || strings.Contains(shown, "is shipped") {
				t.Errorf("somebody who wants no messages reads %q", shown)
			}
			if !strings.Contains(shown, "Press /start") {
				t.Errorf("it does not say how to get messages again: %q", shown)
			}
		}
		for _, m := range s.messagesAbout(id) {
			if m.Type != orders.TypePlaced && (m.State != outbox.StateCanceled || m.Reason != outbox.ReasonStopped) {
				t.Errorf("%s is %s %s", m.Type, m.State, m.Reason)
			}
		}
		s.must(s.sandbox.Start(801, ""))
		s.run(time.Minute)
		s.change(id, orders.Delivered)
		s.run(time.Minute)
		lines = s.lines(801)
		if got := strings.Join(lines[len(lines)-2:], "|"); got != helloAnna+"|Order A-1 is delivered" {
			t.Errorf("it reads %q", lines)
		}
	})
}

func TestStopDoesNotStopTheStaff(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.must(s.sandbox.Write(staffChat, "/stop"))
		s.run(time.Minute)
		s.wantChat(staffChat, outbox.RecipientOpen, "")
		s.place("c-17", "A-1")
		s.run(time.Minute)
		s.wantLines(staffChat, "This chat still hears of every new order", "New order A-1")
	})
}

func TestGroupsComeGoAndMove(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.must(s.sandbox.Write(-5, "hello all"), s.sandbox.Write(-5, "/stop"), s.sandbox.Write(-5, "/orders@nobody_bot"))
		s.run(time.Minute)
		s.wantLines(-5, inPrivate)
		s.wantChat(-5, outbox.RecipientOpen, "")
		s.must(s.sandbox.Kick(-5))
		s.run(time.Minute)
		s.wantChat(-5, outbox.RecipientDead, outbox.RecipientKicked)
		s.must(s.sandbox.Unblock(-5))
		s.run(time.Minute)
		s.wantChat(-5, outbox.RecipientOpen, "")
		s.must(s.sandbox.Migrate(-5, -1005))
		s.run(time.Minute)
		if r := s.chat(-5); r.Address != "-1005" || r.State != outbox.RecipientOpen {
			t.Errorf("the group is %+v", r)
		}
		calls := len(s.sends(-5))
		s.mustSend(s.queue(-5, "after the move"))
		if n := len(s.sends(-5)); n != calls {
			t.Errorf("%d calls to the old id", n-calls)
		}
	})
}

func TestSmallTalkIsAnsweredSeldom(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		for range 20 {
			s.must(s.sandbox.Write(801, "are you there?"))
			s.run(10 * time.Second)
		}
		s.wantLines(801, hint)
		s.run(time.Hour)
		s.must(s.sandbox.Write(801, "hello?"))
		s.run(10 * time.Second)
		s.wantLines(801, hint, hint)
	})
}

func TestManyQuestionsHoldBackNobody(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		id := s.linked(801)
		for range 200 {
			s.must(s.sandbox.Write(666, "/help"), s.sandbox.Write(801, "/help"))
		}
		s.change(id, orders.Paid)
		s.run(time.Minute)
		if n := len(s.texts(666)); n > 60 {
			t.Errorf("%d answers", n)
		}
		if got := strings.Join(s.lines(801), "|"); !strings.Contains(got, "Order A-1 is paid") {
			t.Errorf("it reads %q", got)
		}
	})
}

func TestUP3AKillAnywhereGivesOneBindingAndOneGreeting(t *testing.T) {
	for step := range 6 {
		inEnv(t, withCustomers, func(s *env) {
			s.place("c-17", "A-1")
			s.must(s.sandbox.Start(801, s.invite("c-17")))
			for range step {
				s.run(300 * time.Millisecond) // whatever it was at
				s.restart()
			}
			s.run(2 * time.Minute)
			s.wantLines(801, helloAnna, "Order A-1 is placed")
		})
	}
}

// messagesAbout are the messages about an order.
func (c *env) messagesAbout(order int64) (list []outbox.Message) {
	c.t.Helper()
	for id := int64(1); id <= 100; id++ {
		if m, err := c.find(id); err == nil && m.Subject == orders.Subject(order) && m.Recipient == orders.Recipient("c-17") {
			list = append(list, m)
		}
	}
	return list
}
