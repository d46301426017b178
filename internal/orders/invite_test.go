package orders_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"notifier/internal/database"
	"notifier/internal/orders"
)

func (s *shop) write(fn func(database.Tx) error) {
	s.t.Helper()
	if err := s.db.Write(context.Background(), fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) invite(customer string, at time.Time) (i orders.Invitation) {
	s.t.Helper()
	s.write(func(tx database.Tx) (err error) {
		i, err = s.book.Invite(tx, at, customer)
		return err
	})
	return i
}

func (s *shop) redeem(token string, chat int64, at time.Time) (customer string, r orders.Redeemed) {
	s.t.Helper()
	s.write(func(tx database.Tx) (err error) {
		customer, r, err = s.book.Redeem(tx, at, token, chat)
		return err
	})
	return customer, r
}

func (s *shop) wantRedeemed(token string, chat int64, at time.Time, customer string, r orders.Redeemed) {
	s.t.Helper()
	if c, got := s.redeem(token, chat, at); c != customer || got != r {
		s.t.Errorf("chat %d: %q %s, want %q %s", chat, c, got, customer, r)
	}
}

func (s *shop) wantLinked(customer, chat string) {
	s.t.Helper()
	if got := s.outbox.links[orders.Recipient(customer)]; got != chat {
		s.t.Errorf("customer %s has the chat %q, want %q", customer, got, chat)
	}
}

func TestUP1EveryTokenIsAStartParameter(t *testing.T) {
	s := open(t, 0)
	syntax := regexp.MustCompile(`^[A-Za-z0-9_-]{22,64}$`) // 22 of these are 128 bits
	seen := map[string]bool{}
	s.write(func(tx database.Tx) error {
		for i := range 1000 {
			invitation, err := s.book.Invite(tx, now, fmt.Sprint("c-", i%10))
			if err != nil || !syntax.MatchString(invitation.Token) || seen[invitation.Token] {
				t.Fatalf("token %q, %v", invitation.Token, err)
			}
			seen[invitation.Token] = true
			if want := now.Add(7 * 24 * time.Hour); !invitation.ExpiresAt.Equal(want) {
				t.Fatalf("expires at %v, want %v", invitation.ExpiresAt, want)
			}
		}
		return nil
	})
	for token := range seen {
		var found int
		s.write(func(tx database.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM notifier_links WHERE instr(token_hash, ?) > 0 OR token_hash = ?`, token, token).Scan(&found)
		})
		if found != 0 {
			t.Fatal("a token is stored as it is")
		}
		break
	}
}

func TestConnectURL(t *testing.T) {
	if got := orders.ConnectURL("shop_bot", "abc"); got != "https://t.me/shop_bot?start=abc" {
		t.Errorf("got %s", got)
	}
	if got := orders.ConnectURL("", "abc"); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestUP2ATokenBindsOnce(t *testing.T) {
	s := open(t, 0)
	token := s.invite("c-17", now).Token
	s.wantRedeemed(token, 801, now, "c-17", orders.RedeemedNow)
	s.wantRedeemed(token, 802, now, "", orders.RedeemedNot)
	s.wantLinked("c-17", "801")
	s.wantRedeemed(token, 801, now.Add(30*24*time.Hour), "c-17", orders.RedeemedBefore)
	if s.outbox.linked != 1 {
		t.Errorf("linked %d times", s.outbox.linked)
	}

	// A second chat takes the customer over, and the first can not press itself back.
	s.wantRedeemed(s.invite("c-17", now).Token, 803, now, "c-17", orders.RedeemedNow)
	s.wantLinked("c-17", "803")
	s.wantRedeemed(token, 801, now, "", orders.RedeemedNot)
	s.wantLinked("c-17", "803")
}

func TestUP2ATokenExpires(t *testing.T) {
	s := open(t, 0)
	token := s.invite("c-17", now).Token
	s.wantRedeemed(token, 801, now.Add(7*24*time.Hour), "", orders.RedeemedNot)
	s.wantLinked("c-17", "")
	s.wantRedeemed(token, 801, now.Add(7*24*time.Hour-time.Millisecond), "c-17", orders.RedeemedNow)
	s.invite("c-17", now.Add(40*24*time.Hour))
	var left int
	s.write(func(tx database.Tx) error { return tx.QueryRow(`SELECT count(*) FROM notifier_links`).Scan(&left) })
	if left != 1 {
		t.Errorf("%d invitations are kept, want the new one", left)
	}
}

func TestInvitationsThatAreLongOverArePurgedInSteps(t *testing.T) {
	s := open(t, 0)
	for range 3 {
		s.invite("c-17", now)
	}
	later := now.Add((7 + 30) * 24 * time.Hour)
	s.invite("c-18", later)
	for _, want := range []struct{ old, gone int }{{3, 2}, {1, 1}, {0, 0}} {
		var old, gone int
		s.write(func(tx database.Tx) (err error) {
			if old, err = s.book.CountOldInvitations(tx, later); err != nil {
				return err
			}
			gone, err = s.book.PurgeInvitations(tx, later, 2)
			return err
		})
		if old != want.old || gone != want.gone {
			t.Errorf("of %d old invitations %d went, want %+v", old, gone, want)
		}
	}
}

func TestUP2GuessingIsThrottled(t *testing.T) {
	s := open(t, 0)
	token := s.invite("c-17", now).Token
	tooMany := 0
	s.write(func(tx database.Tx) error {
		for i := range 1000 {
			_, r, err := s.book.Redeem(tx, now, fmt.Sprint("guess-", i), 666)
			if err != nil {
				return err
			}
			if r == orders.RedeemedTooMany {
				tooMany++
			}
		}
		return nil
	})
	if tooMany != 995 {
		t.Errorf("%d of 1000 guesses were not looked at", tooMany)
	}
	s.wantRedeemed(token, 666, now.Add(59*time.Minute), "", orders.RedeemedTooMany)
	s.wantRedeemed("not a token.", 667, now, "", orders.RedeemedNot)
	s.wantRedeemed(token, 666, now.Add(time.Hour), "c-17", orders.RedeemedNow)
	var left int
	s.write(func(tx database.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM notifier_guesses WHERE chat = '666'`).Scan(&left)
	})
	if left != 0 {
		t.Error("the guesses of a customer are kept")
	}
}

func TestGuessesOfAClockThatWasAheadAreForgotten(t *testing.T) {
	s := open(t, 0)
	for i := range 5 {
		s.redeem(fmt.Sprint("guess-", i), 666, now.Add(365*24*time.Hour))
	}
	s.wantRedeemed("x", 666, now, "", orders.RedeemedNot)
	s.wantRedeemed("y", 666, now, "", orders.RedeemedNot)
}

func TestOpenOrders(t *testing.T) {
	s := open(t, 0)
	for i, last := range []orders.Status{orders.Placed, orders.Shipped, orders.Delivered, orders.Canceled, orders.Paid} {
		n := tea(fmt.Sprint("A-", i))
		if i%2 == 1 {
			n.Customer.ID = "c-18"
		}
		o, _, err := s.place(n)
		if err != nil {
			t.Fatal(err)
		}
		if last != orders.Placed {
			if _, _, err := s.change(o.ID, orders.Change{Status: last}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for limit, want := range map[int]string{10: "[A-4 A-1 A-0]", 2: "[A-4 A-1]", 1: "[A-4]"} {
		s.write(func(tx database.Tx) error {
			newest, total, err := s.book.Open(tx, []string{"c-17", "c-18", "c-19"}, limit)
			var names []string
			for _, o := range newest {
				names = append(names, o.Name())
			}
			if fmt.Sprint(names) != want || total != 3 {
				t.Errorf("limit %d: %v of %d, want %s of 3", limit, names, total, want)
			}
			return err
		})
	}
	s.write(func(tx database.Tx) error {
		c, err := s.book.Customer(tx, "c-17")
		if c.Name != "Anna" || c.Locale != "ru" {
			t.Errorf("the customer is %+v", c)
		}
		linked, _ := s.book.Linked(tx, "c-17")
		if linked {
			t.Error("linked without a chat")
		}
		return err
	})
}
