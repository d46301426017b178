package outbox

import (
	"context"
	"fmt"
	"testing"
	"time"

	"notifier/internal/database"
)

// An outage in which sendChatAction was told to wait, and every message that is due may be with the
// channel already: no canary can go without a sign of life, so the ladder has to ask for one again.
func TestAnOutageOfDoubtedMessagesEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		bad := true
		w.channel.touch = func(string) CallResult {
			return CallResult{Verdict: Wait, Wait: 2 * time.Minute, Answered: true, Date: time.Now()}
		}
		w.channel.send = func(string, string, int) CallResult { return when(bad, down(Uncertain, "504")) }
		w.put("1", "x")
		w.runFor(40 * time.Second)
		ids := []int64{w.put("2", "y"), w.put("3", "y"), w.put("4", "y")}
		w.runFor(20 * time.Second)
		bad, w.channel.touch = false, nil
		w.runFor(time.Hour)
		for _, id := range ids {
			w.wantState(id, StateSent, "")
		}
	})
}

// While the guard holds, each waiting chat is tried in turn, whatever the rank of its message.
func TestTheGuardTriesChatsOfEveryRankInTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		left := map[string]bool{}
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(left[address], CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true, Date: time.Now()})
		}
		for i := range 7 {
			w.put(fmt.Sprint(1+i), "hello")
		}
		w.runFor(time.Minute)
		for i := range 6 {
			left[fmt.Sprint(1+i)] = true
		}
		broadcast := func(to string) (id int64) {
			w.write(func(tx database.Tx) error {
				m, err := w.box.enqueue(tx, time.Now(), NewMessage{Recipient: to, Type: "Text", Payload: map[string]string{"text": "news"}}, rankBroadcast)
				id = m.ID
				return err
			})
			return id
		}
		for i := range 5 {
			broadcast(fmt.Sprint(1 + i))
		}
		w.runFor(30 * time.Second)
		good := broadcast("100")
		w.put("6", "an order's message for one who has left")
		w.runFor(time.Hour)
		w.wantState(good, StateSent, "")
	})
}

// A customer links another chat while a call is under way, with a past so long that what waits moves
// in slices. That the old chat refuses says nothing about the message.
func TestARefusalDoesNotEndWhatIsOnItsWayToAnotherChat(t *testing.T) {
	for _, past := range []int{5, 450} {
		t.Run(fmt.Sprint(past), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:7", "70") })
				w.write(func(tx database.Tx) error {
					for range past {
						m, err := w.box.Enqueue(tx, time.Now(), NewMessage{Recipient: "customer:7", Type: "Text", Payload: map[string]string{"text": "old"}})
						if err == nil {
							_, err = w.box.Cancel(tx, time.Now(), m.ID)
						}
						if err != nil {
							return err
						}
					}
					return nil
				})
				w.channel.send = func(address, _ string, _ int) CallResult {
					if address != "70" {
						return CallResult{}
					}
					err := w.db.Write(context.Background(), func(tx database.Tx) error {
						return w.box.Link(tx, time.Now(), "customer:7", "80")
					})
					if err != nil {
						t.Error(err)
					}
					return CallResult{Verdict: ChatDead, Reason: RecipientDeactivated, Answered: true, Date: time.Now()}
				}
				id := w.put("customer:7", "shipped")
				w.runFor(time.Minute)
				w.wantState(id, StateSent, "")
				w.wantTexts("80", "shipped")
			})
		})
	}
}

// What a person should decide is not sent because an outage explains the first failure.
func TestAnOutageBringsBackOnlyWhatItsOwnFailureEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		bad := true
		w.channel.send = func(address, _ string, _ int) CallResult {
			if bad && address == "1" {
				return down(Uncertain, "504")
			}
			return when(bad, down(NotFromChannel, "502"))
		}
		id := w.put("1", "x")
		w.runFor(5 * time.Second)
		w.leave("1", time.Now())
		w.wantState(id, StateUncertain, "")
		w.sign("1", Sign{At: time.Now().Add(2 * time.Second)})
		w.put("2", "y")
		w.put("3", "z")
		w.runFor(10 * time.Second)
		bad = false
		w.runFor(10 * time.Minute)
		w.wantState(id, StateUncertain, "")
		w.wantTexts("1")
	})
}

// A chat dies with more messages than one slice ends, is opened again, and a person retries the first
// of them before the last slice.
func TestARetryBetweenTwoSlicesOfADeathHolds(t *testing.T) {
	inWorld(t, func(w *world) {
		var first int64
		w.write(func(tx database.Tx) error {
			for i := range 3 * mostRows {
				m, err := w.box.Enqueue(tx, time.Now(), NewMessage{Recipient: "7", Type: "Text", Payload: map[string]string{"text": fmt.Sprint(i)}})
				if err != nil {
					return err
				}
				if i == 0 {
					first = m.ID
				}
			}
			return nil
		})
		w.leave("7", time.Now())
		w.wantState(first, StateDead, ReasonChatDead)
		time.Sleep(time.Second)
		w.write(func(tx database.Tx) error {
			if _, err := w.box.Revive(tx, time.Now(), "7"); err != nil {
				return err
			}
			_, err := w.box.Retry(tx, time.Now(), first, false)
			return err
		})
		w.runFor(time.Minute)
		w.wantState(first, StateSent, "")
		w.wantState(first+3*mostRows-1, StateDead, ReasonChatDead)
		w.wantTexts("7", "0")
	})
}
