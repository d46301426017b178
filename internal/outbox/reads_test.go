package outbox

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"notifier/internal/database"
)

func (w *world) list(f Filter) (ids []int64) {
	w.t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	err := w.db.Read(context.Background(), func(tx database.Tx) error {
		page, err := w.box.Messages(tx, f)
		for _, m := range page {
			ids = append(ids, m.ID)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ids
}

// Each list is what a walk over all rows would choose, newest first, whichever index it is read from.
func TestListsChooseAsAWalkOverAllRowsWould(t *testing.T) {
	inWorld(t, func(w *world) {
		w.channel.send = func(address, text string, _ int) CallResult {
			switch text {
			case "rejected":
				return CallResult{Verdict: Rejected, Answered: true}
			case "blocked":
				return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
			case "lost":
				return CallResult{Verdict: Uncertain}
			}
			return CallResult{}
		}
		for i := range 12 {
			text := []string{"fine", "rejected", "lost"}[i%3]
			w.put(fmt.Sprint(1+i%4), text, func(n *NewMessage) {
				n.Subject, n.OnUncertain = fmt.Sprint("order:", i%5), OnUncertainHold
			})
		}
		w.put("9", "blocked")
		w.put("9", "after that")
		w.runFor(time.Minute)
		w.put("customer:1", "waits", func(n *NewMessage) { n.Subject = "order:1" })
		canceled := w.put("5", "canceled")
		w.write(func(tx database.Tx) error {
			_, err := w.box.Cancel(tx, time.Now(), canceled)
			return err
		})
		w.put("6", "soon")
		w.exec(`UPDATE outbox SET state = 'sending' WHERE recipient = '6'`)
		w.exec(`INSERT INTO outbox (recipient, type, payload) VALUES ('1', 'Text', '{}')`)
		w.exec(`INSERT INTO notifier_channels VALUES ('events')`)
		w.exec(`INSERT INTO outbox (recipient, type, payload, channel) VALUES ('1', 'Text', '{}', 'events')`)

		all := w.everything()
		for _, state := range []State{"", StatePending, StateSending, StateSent, StateUncertain, StateDead, StateCanceled} {
			for _, reason := range []string{"", ReasonRejected, ReasonChatDead, ReasonCanceled} {
				for _, subject := range []string{"", "order:1"} {
					for _, to := range []string{"", "1", "9", "customer:1"} {
						for _, before := range []int64{0, 8} {
							w.wantPages(all, Filter{State: state, Reason: reason, Subject: subject, Recipient: to, Before: before})
						}
					}
				}
			}
		}
	})
}

func (w *world) everything() (all []Message) {
	w.t.Helper()
	var ids []int64
	err := w.db.Read(context.Background(), func(tx database.Tx) error {
		rows, err := tx.Query(`SELECT id FROM outbox WHERE channel = 'telegram' ORDER BY id DESC`)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to its end below
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range ids {
		all = append(all, w.message(id))
	}
	return all
}

// wantPages compares a list, and its first page of two, with the messages that its filter describes.
func (w *world) wantPages(all []Message, f Filter) {
	w.t.Helper()
	var want []int64
	for _, m := range all {
		if (f.State == "" || m.State == f.State) && (f.Reason == "" || m.Reason == f.Reason) &&
			(f.Subject == "" || m.Subject == f.Subject) && (f.Before == 0 || m.ID < f.Before) &&
			(f.Recipient == "" || m.Recipient == f.Recipient || m.line == f.Recipient) {
			want = append(want, m.ID)
		}
	}
	if got := w.list(f); !slices.Equal(got, want) {
		w.t.Errorf("%+v lists %v, want %v", f, got, want)
	}
	f.Limit = 2
	if got := w.list(f); !slices.Equal(got, want[:min(2, len(want))]) {
		w.t.Errorf("%+v lists %v, want the first two of %v", f, got, want)
	}
}

func TestChatsAreListedWithoutCustomers(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, address := range []string{"1", "2", "-3"} {
			w.put(address, "x")
		}
		w.put("customer:1", "x")
		w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:1", "2") })
		w.write(func(tx database.Tx) error { return w.box.Move(tx, time.Now(), "-3", "-100") })
		w.exec(`INSERT INTO notifier_recipients (channel, address) VALUES ('telegram', 'customer:2'), ('telegram', 'shop')`)
		w.exec(`UPDATE notifier_recipients SET state = 'dead', reason = 'blocked' WHERE address = '1'`)
		for state, want := range map[RecipientState][]string{
			"": {"-100", "1", "2", "shop"}, RecipientOpen: {"-100", "2", "shop"}, RecipientDead: {"1"}, RecipientDoubtful: nil,
		} {
			for limit := 1; limit < 6; limit++ {
				if got := w.chats(state, limit); !slices.Equal(got, want) {
					t.Errorf("chats %q in pages of %d: %q, want %q", state, limit, got, want)
				}
			}
		}
		var aliases []string
		w.write(func(tx database.Tx) (err error) {
			aliases, err = w.box.Aliases(tx, "2")
			return err
		})
		if !slices.Equal(aliases, []string{"customer:1"}) {
			t.Errorf("the aliases of 2 are %q", aliases)
		}
	})
}

// chats lists the addresses in a state page by page.
func (w *world) chats(state RecipientState, limit int) (addresses []string) {
	w.t.Helper()
	for after, more := "", true; more; {
		w.write(func(tx database.Tx) error {
			page, err := w.box.Recipients(tx, state, after, limit)
			for _, r := range page {
				after = r.Address
				addresses = append(addresses, after)
			}
			more = len(page) == limit
			return err
		})
	}
	return addresses
}

func TestTheOldestDueIsWhatCouldGo(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		w.put("1", "x")
		w.put("2", "planned", func(n *NewMessage) { n.NotBefore = began.Add(time.Hour) })
		time.Sleep(time.Minute)
		w.put("3", "y")
		var oldest time.Time
		w.write(func(tx database.Tx) (err error) {
			oldest, err = w.box.OldestDue(tx, time.Now())
			return err
		})
		if !oldest.Equal(began) {
			t.Errorf("the oldest is due since %v, want %v", oldest, began)
		}
	})
}

func TestGatesNameTheLongest(t *testing.T) {
	inWorld(t, func(w *world) {
		w.channel.send = func(address, _ string, nth int) CallResult {
			return when(address == "1" && nth == 1, CallResult{Verdict: Wait, Wait: time.Hour, Answered: true})
		}
		w.put("1", "x")
		w.runFor(time.Second)
		var channel, chat time.Time
		w.write(func(tx database.Tx) (err error) {
			channel, chat, err = w.box.Gates(tx, time.Now())
			return err
		})
		if wait := time.Until(chat); !channel.IsZero() || wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("the gates are %v and %v", channel, chat)
		}
	})
}
