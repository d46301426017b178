package outbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"notifier/internal/database"
)

func (w *world) sign(address string, s Sign) {
	w.t.Helper()
	w.write(func(tx database.Tx) error { return w.box.SignOfLife(tx, time.Now(), address, s) })
}

func (w *world) leave(address string, at time.Time) {
	w.t.Helper()
	w.write(func(tx database.Tx) error {
		return w.box.Leave(tx, time.Now(), address, at, RecipientBlocked, "the customer blocked the bot")
	})
}

func (w *world) stop(address string) {
	w.t.Helper()
	w.write(func(tx database.Tx) error { return w.box.Stop(tx, time.Now(), address) })
}

func (w *world) answer(address, kind string, every time.Duration) {
	w.t.Helper()
	w.write(func(tx database.Tx) error {
		return w.box.EnqueueReply(tx, time.Now(), NewReply{Address: address, Kind: kind, Type: "Text",
			Payload: map[string]string{"text": kind}, Every: every})
	})
}

// newest is the message of the scenario with the highest id.
func (w *world) newest() (m Message) {
	w.t.Helper()
	w.write(func(tx database.Tx) error {
		list, err := w.box.Messages(tx, Filter{Limit: 100})
		list = slices.DeleteFunc(list, func(m Message) bool { return strings.HasPrefix(m.Recipient, otherPrefix) })
		if len(list) > 0 {
			m = list[0]
		}
		return err
	})
	return m
}

func (w *world) wantRecipient(address string, s RecipientState, reason string) {
	w.t.Helper()
	if r := w.recipient(address); r.State != s || r.Reason != reason {
		w.t.Errorf("%s is %s %s, want %s %s", address, r.State, r.Reason, s, reason)
	}
}

func TestLeavingAndComingBack(t *testing.T) {
	inWorlds(t, func(w *world) {
		waiting := w.put("7", "waiting")
		w.leave("7", time.Now())
		w.wantRecipient("7", RecipientDead, RecipientBlocked)
		w.wantState(waiting, StateDead, ReasonChatDead)
		w.wantState(w.put("7", "meanwhile"), StateDead, ReasonChatDead)
		w.runFor(time.Minute)
		if n := w.channel.calls["7"]; n != 0 {
			t.Errorf("%d calls to who has left", n)
		}
		w.sign("7", Sign{At: time.Now()})
		w.wantRecipient("7", RecipientOpen, "")
		fresh := w.put("7", "fresh")
		w.runFor(time.Minute)
		w.wantState(fresh, StateSent, "")
		w.wantState(waiting, StateDead, ReasonChatDead)
	})
}

func TestNewsOfLeavingThatIsOlderThanASignOfLifeIsIgnored(t *testing.T) {
	inWorlds(t, func(w *world) {
		start := time.Now()
		w.sign("7", Sign{At: start})
		w.sign("7", Sign{At: start})
		w.leave("7", start.Add(-time.Second))
		w.wantRecipient("7", RecipientOpen, "")
		w.leave("7", start) // within one second the order of arrival counts
		w.wantRecipient("7", RecipientDead, RecipientBlocked)

		w.sign("8", Sign{At: start.Add(100 * 365 * 24 * time.Hour)}) // no clock can be that far ahead
		w.leave("8", start.Add(time.Minute))
		w.wantRecipient("8", RecipientDead, RecipientBlocked)

		w.leave("9", time.Time{})
		w.wantRecipient("9", RecipientDead, RecipientBlocked)
	})
}

func TestARefusalFromBeforeASignOfLifeIsAboutThePast(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.latency = 10 * time.Second
		w.channel.send = func(_, _ string, call int) CallResult {
			if call == 1 {
				return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
			}
			return CallResult{Verdict: Accepted, OK: true, Answered: true}
		}
		id := w.put("7", "x")
		go func() {
			time.Sleep(5 * time.Second)
			w.sign("7", Sign{At: time.Now()}) // the recipient is open, and still its epoch rises
		}()
		w.runFor(time.Minute)
		w.wantState(id, StateSent, "")
		if m := w.message(id); m.Failures != 0 || w.channel.calls["7"] != 2 {
			t.Errorf("%d counted failures, %d calls", m.Failures, w.channel.calls["7"])
		}
		w.wantRecipient("7", RecipientOpen, "")
	})
}

func TestStopIsResumedOnlyBySignsThatResume(t *testing.T) {
	inWorlds(t, func(w *world) {
		waiting := w.put("7", "waiting")
		w.stop("7")
		w.wantState(waiting, StateCanceled, ReasonStopped)
		w.wantState(w.put("7", "meanwhile"), StateCanceled, ReasonStopped)
		w.sign("7", Sign{At: time.Now(), Writable: true})
		w.leave("7", time.Now())
		w.sign("7", Sign{At: time.Now()})
		w.wantRecipient("7", RecipientDead, RecipientStopped)
		w.runFor(time.Minute)
		if n := w.channel.calls["7"]; n != 0 {
			t.Errorf("%d calls to who wants none", n)
		}
		w.sign("7", Sign{At: time.Now(), Resumes: true})
		w.wantRecipient("7", RecipientOpen, "")
		fresh := w.put("7", "fresh")
		w.runFor(time.Minute)
		w.wantState(fresh, StateSent, "")
	})
}

func TestAnswersGoToWhoHasStopped(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.answer("7", "before", 0)
		before := w.newest().ID
		w.stop("7")
		w.answer("7", "stop", 0)
		w.put("7", "no answer")
		after := w.newest().ID - 1
		w.runFor(time.Minute)
		w.wantState(before, StateSent, "")
		w.wantState(after, StateSent, "")
		if n := w.channel.calls["7"]; n != 2 {
			t.Errorf("%d calls, want the two answers", n)
		}
		w.wantRecipient("7", RecipientDead, RecipientStopped)

		w.leave("8", time.Now())
		w.answer("8", "x", 0) // nobody can have written it, but were it so
		w.wantState(w.newest().ID, StateDead, ReasonChatDead)
	}, not(withWriter, "it takes two messages in a row to have ids in a row"))
}

func TestAnAnswerThatIsRefusedEndsLikeTheRest(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(string, string, int) CallResult {
			return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
		}
		w.stop("7")
		w.answer("7", "one", 0)
		one := w.newest().ID
		w.answer("7", "two", 0)
		w.runFor(time.Minute)
		w.wantState(one, StateCanceled, ReasonStopped)
		w.wantState(one+1, StateCanceled, ReasonStopped)
		w.wantRecipient("7", RecipientDead, RecipientStopped)
	}, not(withWriter, "it takes two messages in a row to have ids in a row"))
}

func TestOnlyTheNewestAnswerOfAKindWaits(t *testing.T) {
	inWorlds(t, func(w *world) {
		for range 10 {
			w.answer("7", "help", 0)
			w.answer("7", "hint", time.Hour)
		}
		w.runFor(time.Minute)
		if n := w.channel.calls["7"]; n != 2 {
			t.Errorf("%d calls, want one help and one hint", n)
		}
		time.Sleep(58 * time.Minute)
		w.answer("7", "hint", time.Hour)
		w.runFor(time.Minute + time.Second)
		w.answer("7", "hint", time.Hour)
		w.runFor(time.Minute)
		if n := w.channel.calls["7"]; n != 3 {
			t.Errorf("%d calls, want one more hint", n)
		}
	})
}

func TestASignThatSaysNothingOfRightsLeavesADoubt(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(string, string, int) CallResult {
			return CallResult{Verdict: ChatDoubtful, Reason: ReasonNoRights, Answered: true}
		}
		w.put("-7", "x")
		w.runFor(time.Second)
		w.wantRecipient("-7", RecipientDoubtful, RecipientOther)
		w.sign("-7", Sign{At: time.Now()})
		w.wantRecipient("-7", RecipientDoubtful, RecipientOther)
		w.sign("-7", Sign{At: time.Now(), Writable: true})
		w.wantRecipient("-7", RecipientOpen, "")
	})
}

func TestMoveAndAliases(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.write(func(tx database.Tx) error {
			for i := range 3 {
				if err := w.box.Link(tx, time.Now(), fmt.Sprint("customer:", i), "-7"); err != nil {
					return err
				}
			}
			for _, move := range [][2]string{{"-7", "-1007"}, {"-7", "-1007"}, {"-1007", "-7"}, {"-1007", "-1007"}} {
				if err := w.box.Move(tx, time.Now(), move[0], move[1]); err != nil {
					return err
				}
			}
			for _, address := range []string{"-7", "-1007"} {
				list, err := w.box.Aliases(tx, address)
				if err != nil || fmt.Sprint(list) != "[customer:0 customer:1 customer:2]" {
					t.Errorf("%s: %v, %v", address, list, err)
				}
			}
			return nil
		})
		id := w.put("-7", "x")
		w.runFor(time.Minute)
		w.wantState(id, StateSent, "")
		if w.channel.calls["-1007"] != 1 {
			t.Errorf("calls: %v", w.channel.calls)
		}
	})
}

func TestMenuIsRemembered(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.write(func(tx database.Tx) error {
			for _, hash := range []string{"", "a", "b"} {
				if hash != "" {
					if err := w.box.SetMenu(tx, hash); err != nil {
						return err
					}
				}
				if got, err := w.box.Menu(tx); got != hash || err != nil {
					t.Errorf("got %q, %v, want %q", got, err, hash)
				}
			}
			return nil
		})
	})
}

func TestErasedAnswersDoNotKeepTheAddress(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:c-17", "7001002003") })
		w.answer("7001002003", "help", 0)
		w.runFor(time.Minute)
		w.write(func(tx database.Tx) error {
			if _, err := w.box.Erase(tx, time.Now(), "customer:c-17"); err != nil {
				return err
			}
			var left int
			err := tx.QueryRow(`SELECT count(*) FROM outbox WHERE instr(coalesce(subject, '') || recipient || payload, '7001002003') > 0`).Scan(&left)
			if left != 0 {
				t.Errorf("%d messages still hold the address", left)
			}
			return err
		})
	}, not(withWriter, "the writer lets another customer stand for the address, whose messages then stay"))
}
