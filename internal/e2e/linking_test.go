package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
	"notifier/internal/outbox"
)

// The first lines of what the bot says.
const (
	helloAnna = "Hello Anna!"
	hello     = "Hello!"
	refused   = "This link does not work"
	stopped   = "You will get no more messages"
	whatIDo   = "What I do"
	hint      = "I only bring news of orders and cannot read messages. For questions, please turn to the shop."
	inPrivate = "Please write to me in a private chat: what I know of orders is not for a group, and links from the shop work only there."
)

func TestUP1AnOrderWithoutAChatIsLinkedByItsToken(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		first := s.place("c-17", "A-1")
		s.change(first, orders.Paid)
		s.place("c-17", "A-2")
		token := s.invite("c-17")
		s.run(time.Minute)
		if len(s.sends(801)) != 0 {
			t.Error("somebody was written to before they pressed Start")
		}
		s.must(s.sandbox.Start(801, token))
		s.run(time.Minute)
		s.wantLines(801, helloAnna, "Order A-1 is paid", "Order A-2 is placed")
		greeting := s.texts(801)[0]
		for _, want := range []string{"You have 2 open orders:", "• A-2 — placed — €25.00", "• A-1 — paid — €25.00"} {
			if !strings.Contains(greeting, want) {
				t.Errorf("%q is not in\n%s", want, greeting)
			}
		}
		m := s.message(1)
		if m.Type != orders.TypePlaced || m.State != outbox.StateCanceled || m.Reason != outbox.ReasonSuperseded {
			t.Errorf("the older message about A-1 is %s %s", m.State, m.Reason)
		}
	})
}

func TestUP1BareAndBadStartsGetAHelpfulAnswer(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		s.must(s.sandbox.Start(801, ""))
		s.run(time.Minute)
		for _, bad := range []string{strings.Repeat("x", 64), strings.Repeat("x", 65), "a=b", "a.b"} {
			s.must(s.sandbox.Start(801, bad))
			s.run(time.Minute)
		}
		s.wantLines(801, hello, refused, refused, refused, refused)
		if at := s.chatOf("c-17"); at != "" {
			t.Errorf("bound to %s", at)
		}
	})
}

func TestUP1EveryWrittenFormOfStartLinks(t *testing.T) {
	for _, form := range []string{"/start %s", "/start@%s %s", "/START   %s", "/start\n%s", " /start\t%s \n"} {
		inEnv(t, withCustomers, func(s *env) {
			s.place("c-17", "A-1")
			s.run(time.Minute)
			token := s.invite("c-17")
			written := fmt.Sprintf(form, token)
			if strings.Contains(form, "@") {
				written = fmt.Sprintf(form, strings.ToUpper(s.client.Username()), token)
			}
			s.must(s.sandbox.Write(801, written))
			s.run(time.Minute)
			if at := s.chatOf("c-17"); at != "801" {
				t.Errorf("%q: bound to %q", form, at)
			}
		})
	}
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		token := s.invite("c-17")
		s.must(s.sandbox.Write(801, "/start@other_bot "+token), s.sandbox.Write(801, "please /start "+token))
		s.run(time.Minute)
		if at := s.chatOf("c-17"); at != "" {
			t.Errorf("bound to %q", at)
		}
		s.wantLines(801, hint)
	})
}

func TestUP2ALinkBindsOneChatOnce(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		token := s.invite("c-17")
		var both sync.WaitGroup
		for _, chat := range []int64{801, 802} {
			both.Go(func() { s.must(s.sandbox.Start(chat, token)) })
		}
		both.Wait()
		s.run(time.Minute)
		first, second := int64(801), int64(802)
		if s.chatOf("c-17") == "802" {
			first, second = second, first
		}
		s.wantLines(first, helloAnna, "Order A-1 is placed")
		s.wantLines(second, refused)
		if shown := strings.Join(s.texts(second), "\n"); strings.Contains(shown, "Anna") || strings.Contains(shown, "A-1") {
			t.Errorf("a stranger reads %q", shown)
		}
		s.must(s.sandbox.Start(first, token)) // pressed once more: nothing to complain of
		s.run(time.Minute)
		s.wantLines(first, helloAnna, "Order A-1 is placed", helloAnna)
	})
}

func TestUP2AGroupAndAnOldLinkBindNothing(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		token := s.invite("c-17")
		for range 3 {
			s.must(s.sandbox.Start(-5, token))
		}
		s.run(time.Minute)
		s.wantLines(-5, inPrivate)
		time.Sleep(7 * 24 * time.Hour)
		s.must(s.sandbox.Start(801, token))
		s.run(time.Minute)
		s.wantLines(801, refused)
		if at := s.chatOf("c-17"); at != "" {
			t.Errorf("bound to %q", at)
		}
	})
}

func TestUP2ASecondChatTakesOverAndTheFirstIsToldNothing(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		id := s.place("c-17", "A-1")
		s.must(s.sandbox.Start(801, s.invite("c-17")))
		s.run(time.Minute)
		before := len(s.texts(801))
		s.must(s.sandbox.Start(803, s.invite("c-17")))
		s.run(time.Minute)
		s.change(id, orders.Paid)
		s.run(time.Minute)
		s.wantLines(803, helloAnna, "Order A-1 is paid")
		if n := len(s.texts(801)); n != before {
			t.Errorf("the first chat reads %q", s.texts(801)[before:])
		}
		s.must(s.sandbox.Write(801, "/orders"))
		s.run(time.Minute)
		if got := s.texts(801)[before]; strings.Contains(got, "A-1") || strings.Contains(got, "Anna") {
			t.Errorf("the first chat reads %q", got)
		}
	})
}

func TestUP2GuessingIsThrottled(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		token := s.invite("c-17")
		for i := range 1000 {
			s.must(s.sandbox.Start(666, fmt.Sprint("guess-", i)))
		}
		s.must(s.sandbox.Start(666, token))
		s.run(5 * time.Minute)
		if n := len(s.texts(666)); n > 7 {
			t.Errorf("%d answers to somebody who guesses", n)
		}
		if at := s.chatOf("c-17"); at != "" {
			t.Errorf("bound to %q", at)
		}
		time.Sleep(time.Hour)
		s.must(s.sandbox.Start(666, token))
		s.run(time.Minute)
		if at := s.chatOf("c-17"); at != "666" {
			t.Errorf("an hour later it is bound to %q", at)
		}
	})
}

func TestTheGreetingSpeaksTheCustomersLanguage(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		s.speaks("ru", "c-17")
		s.must(s.sandbox.Start(801, s.invite("c-17")))
		s.run(time.Minute)
		greeting := s.texts(801)[0]
		for _, want := range []string{"Здравствуйте, Anna!", "У вас 1 открытый заказ:", "• A-1 — оформлен — 25,00\u00a0€"} {
			if !strings.Contains(greeting, want) {
				t.Errorf("%q is not in\n%s", want, greeting)
			}
		}
	})
}

func TestAFamilyWithOneChatSeesAllItsOrders(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		for _, c := range []string{"c-17", "c-18"} {
			s.place(c, "of "+c)
			s.must(s.sandbox.Start(801, s.invite(c)))
		}
		s.run(time.Minute)
		s.must(s.sandbox.Write(801, "/orders"))
		s.run(time.Minute)
		list := s.texts(801)[len(s.texts(801))-1]
		if !strings.Contains(list, "of c-17") || !strings.Contains(list, "of c-18") || !strings.Contains(list, "2 open orders") {
			t.Errorf("it reads %q", list)
		}
	})
}

func TestNoTokenIsKept(t *testing.T) {
	inEnv(t, withCustomers, func(s *env) {
		s.place("c-17", "A-1")
		token := s.invite("c-17")
		s.must(s.sandbox.Start(801, token))
		s.run(time.Minute)
		s.write(func(tx database.Tx) error {
			for _, query := range []string{
				`SELECT count(*) FROM outbox WHERE instr(payload, ?) + instr(coalesce(subject, ''), ?) > 0`,
				`SELECT count(*) FROM notifier_updates WHERE instr(kind, ?) + instr(kind, ?) > 0`,
			} {
				var n int
				if err := tx.QueryRow(query, token, token).Scan(&n); err != nil || n != 0 {
					t.Errorf("%s: %d, %v", query, n, err)
				}
			}
			return nil
		})
	})
}
