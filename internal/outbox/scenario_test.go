package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"notifier/internal/database"
)

func down(v Verdict, detail string) CallResult {
	return CallResult{Verdict: v, Detail: detail, Answered: false}
}

// One order alone through ten hours: first a proxy's page for everything, then answers that are
// lost although the message was delivered, then silence.
func TestOneOrderAloneThroughALongOutage(t *testing.T) {
	inWorlds(t, func(w *world) {
		bad := down(NotFromChannel, "502")
		deliver := false
		broken := true
		w.channel.identify = func() CallResult { return when(broken, bad) }
		w.channel.touch = func(string) CallResult { return when(broken, bad) }
		w.channel.send = func(address, text string, _ int) CallResult {
			if broken && deliver {
				w.channel.deliver(address, text)
			}
			return when(broken, bad)
		}
		id := w.put("7900000001", "A-1 is placed")
		w.runFor(3 * time.Hour)
		bad, deliver = down(Uncertain, "504"), true
		w.runFor(3 * time.Hour)
		bad, deliver = down(Uncertain, "no answer"), false
		w.runFor(4 * time.Hour)
		broken = false
		w.runFor(2 * time.Minute)
		m := w.message(id)
		if m.State != StateSent || m.Failures != 0 {
			t.Errorf("the message is %s with %d counted failures", m.State, m.Failures)
		}
		if n := len(w.channel.sent); n < 1 || n > 2 {
			t.Errorf("%d copies were delivered", n)
		}
	})
}

// The same when the outage begins with lost answers: the one copy that may have arrived is
// followed by one more, and only when the channel has shown life.
func TestALostAnswerWaitsForASignOfLife(t *testing.T) {
	inWorlds(t, func(w *world) {
		broken := true
		bad := down(Uncertain, "504")
		w.channel.identify = func() CallResult { return when(broken, bad) }
		w.channel.touch = func(string) CallResult { return when(broken, bad) }
		w.channel.send = func(address, text string, nth int) CallResult {
			if broken {
				w.channel.deliver(address, text)
				return bad
			}
			return CallResult{}
		}
		id := w.put("7900000001", "A-1 is placed")
		w.runFor(10 * time.Hour)
		if n := w.channel.calls["7900000001"]; n != 1 {
			t.Errorf("%d calls while nothing answered, want the first alone", n)
		}
		if e := w.explain(id); e.Code != WaitsSign {
			t.Errorf("explained as %s: %s", e.Code, e.Text)
		}
		broken = false
		w.runFor(2 * time.Minute)
		w.wantState(id, StateSent, "")
		if n := len(w.channel.sent); n != 2 {
			t.Errorf("%d copies, want two", n)
		}
	})
}

func when(broken bool, a CallResult) CallResult {
	if broken {
		return a
	}
	return CallResult{}
}

func TestNoThirdTryThatMayHaveArrived(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, text string, _ int) CallResult {
			if address == "731" {
				w.channel.deliver(address, text)
				return down(Uncertain, "timeout")
			}
			return CallResult{}
		}
		lost, held := w.put("731", "x"), w.put("732", "y", func(n *NewMessage) { n.OnUncertain = OnUncertainHold })
		next := w.put("731", "z")
		w.channel.send = func(address, text string, _ int) CallResult {
			w.channel.deliver(address, text)
			return when(text != "z", down(Uncertain, "timeout"))
		}
		w.runFor(time.Hour)
		w.wantState(lost, StateUncertain, "")
		w.wantState(held, StateUncertain, "")
		w.wantState(next, StateSent, "")
		if n := w.channel.calls["732"]; n != 1 {
			t.Errorf("the held message was called for %d times", n)
		}
		w.wantTexts("731", "x", "x", "z", "z")
	})
}

func TestAnotherBotKillsNoChat(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.put("901", "from the right bot")
		if _, err := w.pass(); err != nil {
			t.Fatal(err)
		}
		w.config.Identity = "2"
		w.restart()
		id := w.put("901", "x")
		calls := w.channel.calls["901"] + w.channel.identifies
		if _, err := w.pass(); !errors.Is(err, ErrIdentity) {
			t.Errorf("the pass ended with %v", err)
		}
		w.runFor(time.Hour)
		if n := w.channel.calls["901"] + w.channel.identifies; n != calls {
			t.Error("another bot made calls")
		}
		if s := w.status(); s.State != SenderStopped {
			t.Errorf("the sender is %+v", s)
		}
		w.write(func(tx database.Tx) error { return w.box.AcceptIdentity(tx, "2") })
		w.runFor(time.Minute)
		w.wantState(id, StateSent, "")
		if s := w.status(); s.State != SenderRunning {
			t.Errorf("the sender is %+v", s)
		}
	})
}

func TestADeadChatTakesItsMessagesWithItAndNewOnesEndAtOnce(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(address == "601", CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Detail: "bot was blocked by the user", Answered: true})
		}
		var dead, alive []int64
		for i := range 5 {
			dead = append(dead, w.put("601", fmt.Sprint(i)))
			alive = append(alive, w.put("602", fmt.Sprint(i)))
		}
		w.runFor(time.Minute)
		for i := range 5 {
			w.wantState(dead[i], StateDead, ReasonChatDead)
			w.wantState(alive[i], StateSent, "")
		}
		w.wantTexts("602", "0", "1", "2", "3", "4")
		if r := w.recipient("601"); r.State != RecipientDead || r.Reason != RecipientBlocked || r.Since.IsZero() {
			t.Errorf("the chat is %+v", r)
		}
		later := w.put("601", "later")
		w.wantState(later, StateDead, ReasonChatDead)
		foreign := w.insertForeign("601")
		w.runFor(2 * time.Second)
		w.wantState(foreign, StateDead, ReasonChatDead)
		if n := w.channel.calls["601"]; n != 1 {
			t.Errorf("%d calls to the dead chat", n)
		}
	})
}

// insertForeign is what another program does: it knows the table and nothing else.
func (w *world) insertForeign(recipient string) int64 {
	w.t.Helper()
	var id int64
	w.write(func(tx database.Tx) error {
		return tx.QueryRow(`INSERT INTO outbox (recipient, type, payload, created_at)
			VALUES (?, 'Text', '{"text":"foreign"}', ?) RETURNING id`, recipient, time.Now().UnixMilli()).Scan(&id)
	})
	return id
}

func TestADoubtfulChatComesBackOrEnds(t *testing.T) {
	inWorlds(t, func(w *world) {
		lost := true
		w.channel.send = func(string, string, int) CallResult {
			return when(lost, CallResult{Verdict: ChatDoubtful, Reason: ReasonChatNotFound, Detail: "chat not found", Answered: true})
		}
		back := w.put("610", "one")
		w.runFor(5 * time.Minute)
		if n := w.channel.calls["610"]; n != 2 {
			t.Errorf("%d calls in five minutes, want two", n)
		}
		lost = false
		w.runFor(10 * time.Minute)
		w.wantState(back, StateSent, "")
		if r := w.recipient("610"); r.State != RecipientOpen {
			t.Errorf("the chat is %+v", r)
		}
		lost = true
		first, second := w.put("610", "two"), w.put("610", "three")
		w.runFor(2 * time.Hour)
		w.wantState(first, StateDead, ReasonChatNotFound)
		w.wantState(second, StateDead, ReasonChatNotFound)
		calls := w.channel.calls["610"]
		w.put("610", "four")
		w.runFor(2 * time.Hour)
		if n := w.channel.calls["610"]; n != calls+1 {
			t.Errorf("a later message had %d tries, want one", n-calls)
		}
	})
}

func TestAMovedGroupKeepsItsOrderAndOneRecord(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(address == "-4455", CallResult{Verdict: Moved, MovedTo: "-1009876500001", Answered: true})
		}
		for i := range 3 {
			w.put("-4455", fmt.Sprint(i))
		}
		w.runFor(10 * time.Second)
		w.wantTexts("-1009876500001", "0", "1", "2")
		w.insertForeign("-4455")
		w.put("-4455", "next")
		w.runFor(10 * time.Second)
		w.wantTexts("-1009876500001", "0", "1", "2", "foreign", "next")
		if n := w.channel.calls["-4455"]; n != 1 {
			t.Errorf("%d calls to the old id", n)
		}
		if r := w.recipient("-4455"); r.Address != "-1009876500001" || r.State != RecipientOpen {
			t.Errorf("the old id stands for %+v", r)
		}
	})
}

func TestAMoveThatLeadsBackEnds(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, _ string, _ int) CallResult {
			to := map[string]string{"-1": "-2", "-2": "-1"}
			return CallResult{Verdict: Moved, MovedTo: to[address], Answered: true}
		}
		id := w.put("-1", "x")
		w.runFor(48 * time.Hour)
		w.wantState(id, StateDead, ReasonTooManyAttempts)
	})
}

func TestAGateSurvivesAKill(t *testing.T) {
	inWorlds(t, func(w *world) {
		began := time.Now()
		w.channel.send = func(_, _ string, nth int) CallResult {
			return when(nth == 1, CallResult{Verdict: Wait, Wait: time.Minute, Answered: true})
		}
		id := w.put("501", "x")
		w.runFor(2 * time.Second)
		if e := w.explain(id); e.Code != WaitsGate || e.Until.Before(began.Add(time.Minute)) {
			t.Errorf("explained as %s until %v: %s", e.Code, e.Until, e.Text)
		}
		w.restart()
		w.runFor(2 * time.Minute)
		w.wantState(id, StateSent, "")
		if took := w.channel.sent[0].at.Sub(began); took < time.Minute || took > 63*time.Second {
			t.Errorf("sent after %v", took)
		}
		if n := w.channel.calls["501"]; n != 2 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestTheWholeChannelWaitsWhenTwoCanariesAreRefused(t *testing.T) {
	inWorlds(t, func(w *world) {
		began := time.Now()
		w.channel.send = func(string, string, int) CallResult {
			return when(time.Since(began) < 5*time.Second, CallResult{Verdict: Wait, Wait: 20 * time.Second, Answered: true})
		}
		for i := range 20 {
			w.put(fmt.Sprint(510+i), "x")
		}
		w.runFor(10 * time.Second)
		calls := 0
		for _, n := range w.channel.calls {
			calls += n
		}
		if calls > 6 { // those in flight at the first refusal, and two canaries
			t.Errorf("%d calls before the channel waited", calls)
		}
		if s := w.status(); s.State != SenderWaiting {
			t.Errorf("the sender is %+v", s)
		}
		w.restart()
		w.runFor(time.Minute)
		if n := len(w.channel.sent); n != 20 {
			t.Errorf("%d were sent after the wait", n)
		}
	}, not(inBatches, "calls take longer there, so more of them are under way at the first refusal"))
}

func TestAKillLeavesAnOpenAttemptToOneMoreTry(t *testing.T) {
	inWorlds(t, func(w *world) {
		id := w.put("611", "x")
		hold := w.put("612", "x", func(n *NewMessage) { n.OnUncertain = OnUncertainHold })
		w.leaveOpen(id, "611")
		w.leaveOpen(hold, "612")
		began := time.Now()
		w.runFor(time.Minute)
		w.wantState(id, StateSent, "")
		w.wantState(hold, StateUncertain, "")
		if took := w.channel.sent[0].at.Sub(began); took < 30*time.Second {
			t.Errorf("the second try came %v after the start", took)
		}
		if as := w.attempts(id); len(as) != 2 || as[0].Result != Uncertain || as[1].Result != Accepted {
			t.Errorf("attempts: %+v", as)
		}
	})
}

// leaveOpen leaves a message as a process does that is killed during its call.
func (w *world) leaveOpen(id int64, address string) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`INSERT INTO notifier_attempts (channel, message_id, address, epoch, started_at)
		VALUES ('telegram', %d, '%s', 0, %d)`, id, address, time.Now().UnixMilli()))
	w.exec(fmt.Sprintf(`UPDATE outbox SET state = 'sending' WHERE id = %d`, id))
}

func (w *world) exec(statement string) {
	w.t.Helper()
	w.write(func(tx database.Tx) error {
		_, err := tx.Exec(statement)
		return err
	})
}

func TestWithoutALinkAMessageWaitsAndTheNewestGoes(t *testing.T) {
	inWorlds(t, func(w *world) {
		about := func(order string) func(*NewMessage) {
			return func(n *NewMessage) { n.Subject, n.CollapseKey = order, order }
		}
		old := w.put("customer:17", "placed", about("order:1"))
		other := w.put("customer:17", "placed too", about("order:2"))
		newest := w.put("customer:17", "paid", about("order:1"))
		w.runFor(time.Hour)
		if e := w.explain(old); e.Code != WaitsLink {
			t.Errorf("explained as %s: %s", e.Code, e.Text)
		}
		w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:17", "7900000017") })
		w.runFor(10 * time.Second)
		w.wantState(old, StateCanceled, ReasonSuperseded)
		w.wantState(other, StateSent, "")
		w.wantState(newest, StateSent, "")
		w.wantTexts("7900000017", "placed too", "paid")

		w.put("customer:17", "one")
		w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:17", "7900000018") })
		w.runFor(10 * time.Second)
		w.wantTexts("7900000018", "one")
		w.wantTexts("7900000017", "placed too", "paid")
	})
}

func TestMessagesExpireUnderAGateInAnOutageAndWithoutALink(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(address == "501", CallResult{Verdict: Wait, Wait: 100 * time.Hour, Answered: true})
		}
		gated := w.put("501", "x")
		soon := w.put("501", "y", func(n *NewMessage) { n.ExpiresAt = time.Now().Add(time.Hour) })
		unlinked := w.put("customer:5", "z")
		w.runFor(2 * time.Hour)
		w.wantState(gated, StatePending, "")
		w.wantState(soon, StateDead, ReasonExpired)
		w.runFor(71 * time.Hour)
		w.wantState(gated, StateDead, ReasonExpired)
		w.wantState(unlinked, StatePending, "")
		w.runFor(30 * 24 * time.Hour)
		w.wantState(unlinked, StateDead, ReasonExpired)
	})
}

func TestNothingExpiresWhileTheClockIsWrong(t *testing.T) {
	inWorlds(t, func(w *world) {
		behind := func(CallResult) CallResult {
			return CallResult{Verdict: Accepted, OK: true, Answered: true, Date: time.Now().Add(-365 * 24 * time.Hour)}
		}
		w.channel.identify = func() CallResult { return behind(CallResult{}) }
		id := w.put("customer:5", "z", func(n *NewMessage) { n.ExpiresAt = time.Now().Add(time.Hour) })
		w.runFor(48 * time.Hour)
		w.wantState(id, StatePending, "")
	})
}

func TestAPoisonMessageEndsOnAQuietNight(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(_, text string, _ int) CallResult {
			return when(text == "poison", CallResult{Verdict: Failed, Detail: "500", Answered: true})
		}
		id := w.put("711", "poison")
		after := w.put("711", "after")
		w.runFor(24 * time.Hour)
		w.wantState(id, StateDead, ReasonTooManyAttempts)
		w.wantState(after, StateSent, "")
	})
}

func TestAPoisonMessageEndsOnABusyDay(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(_, text string, _ int) CallResult {
			return when(text == "poison", CallResult{Verdict: Failed, Detail: "500", Answered: true})
		}
		const minutes = 6 * 60
		id := w.put("711", "poison")
		for i := range minutes {
			w.put(fmt.Sprint(1000+i%50), "x")
			w.runFor(time.Minute)
		}
		w.wantState(id, StateDead, ReasonTooManyAttempts)
		if n := len(w.channel.sent); n != minutes {
			t.Errorf("%d of the others were sent", n)
		}
	})
}

func TestOneHangingChatHoldsUpNobody(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.channel.send = func(address, _ string, _ int) CallResult {
			if address == "721" {
				time.Sleep(30 * time.Second)
				return down(Uncertain, "timeout")
			}
			return CallResult{}
		}
		stuck := w.put("721", "x")
		for i := range 30 {
			w.put(fmt.Sprint(730+i), "x")
		}
		w.runFor(3 * time.Second)
		if n := len(w.channel.sent); n != 30 {
			t.Errorf("%d of the 30 others were sent in 3 s", n)
		}
		w.runFor(10 * time.Minute)
		w.wantState(stuck, StateUncertain, "")
	})
}

func TestARejectedTokenCostsNothing(t *testing.T) {
	inWorlds(t, func(w *world) {
		bad := CallResult{Verdict: BotStopped, Detail: "Unauthorized", Answered: true}
		revoked := true
		w.channel.send = func(string, string, int) CallResult { return when(revoked, bad) }
		w.channel.touch = func(string) CallResult { return when(revoked, bad) }
		w.channel.identify = func() CallResult { return when(revoked, CallResult{Verdict: BotStopped, Detail: "Unauthorized"}) }
		for i := range 200 {
			w.put(fmt.Sprint(2000+i), "x")
		}
		w.runFor(2 * time.Minute)
		if s := w.status(); s.State != SenderStopped {
			t.Errorf("the sender is %+v", s)
		}
		calls := 0
		for _, n := range w.channel.calls {
			calls += n
		}
		if calls > 40 {
			t.Errorf("%d calls", calls)
		}
		revoked = false
		w.runFor(2 * time.Minute)
		if n := len(w.channel.sent); n != 200 {
			t.Errorf("%d were sent afterwards", n)
		}
	})
}

func TestPlannedMessagesHoldNobodyBack(t *testing.T) {
	inWorlds(t, func(w *world) {
		planned := w.put("820", "later", func(n *NewMessage) { n.NotBefore = time.Now().Add(time.Hour) })
		w.put("820", "now")
		w.runFor(time.Minute)
		w.wantTexts("820", "now")
		if e := w.explain(planned); e.Code != WaitsPlan {
			t.Errorf("explained as %s", e.Code)
		}
		w.put("820", "again")
		w.runFor(time.Minute)
		w.wantTexts("820", "now", "again")
		w.runFor(time.Hour)
		w.wantTexts("820", "now", "again", "later")
	})
}

func TestVerdictsAreKeptUntilTheDiskTakesThem(t *testing.T) {
	inWorlds(t, func(w *world) {
		var once sync.Once
		w.channel.send = func(string, string, int) CallResult {
			once.Do(func() { // from the moment the channel has the first message
				w.exec(`CREATE TRIGGER broken BEFORE UPDATE ON notifier_attempts
					BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
			})
			return CallResult{}
		}
		first, second := w.put("830", "x"), w.put("830", "y")
		w.runForKeeping(time.Minute)
		if n := len(w.channel.sent); n != 1 {
			t.Errorf("%d were sent while nothing could be stored", n)
		}
		w.exec(`DROP TRIGGER broken`)
		w.runFor(time.Minute)
		w.wantState(first, StateSent, "")
		w.wantState(second, StateSent, "")
		w.wantTexts("830", "x", "y")
	})
}

// runForKeeping is runFor for a service that cannot end yet, since it has something to store.
func (w *world) runForKeeping(d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	go w.d.Run(ctx, every(time.Second), nil) //nolint:errcheck // it ends with its context
	time.Sleep(d)
	cancel()
}

func TestALinkThatChangesDuringACallTakesTheMessageAlong(t *testing.T) {
	inWorlds(t, func(w *world) {
		w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:17", "901") })
		w.channel.send = func(address, _ string, _ int) CallResult {
			if address != "901" {
				return CallResult{}
			}
			w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:17", "902") })
			return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
		}
		id := w.put("customer:17", "refused")
		w.runFor(time.Minute)
		w.wantState(id, StateSent, "")
		w.channel.send = func(address, _ string, nth int) CallResult {
			if address != "902" || nth != 2 {
				return CallResult{}
			}
			w.write(func(tx database.Tx) error { return w.box.Link(tx, time.Now(), "customer:17", "903") })
			return CallResult{Verdict: Wait, Wait: time.Hour, Answered: true}
		}
		second := w.put("customer:17", "follows")
		w.runFor(time.Minute)
		w.wantState(second, StateSent, "")
		w.wantTexts("902", "refused")
		w.wantTexts("903", "follows")
	})
}

// acquaint lets chats accept a message, so that a later refusal says something.
func (w *world) acquaint(chats ...string) {
	for _, chat := range chats {
		w.put(chat, "welcome")
	}
	w.runFor(time.Minute)
}

func fiveTo(n int) (chats []string) {
	for i := range n {
		chats = append(chats, fmt.Sprint(5000+i))
	}
	return chats
}

func TestAFaultThatRefusesEverybodyForAnHourKillsNobody(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restarts ", restarts), func(t *testing.T) {
			inWorlds(t, func(w *world) {
				chats := fiveTo(20)
				w.acquaint(chats...)
				refusing := true
				w.channel.send = func(string, string, int) CallResult {
					return when(refusing, CallResult{Verdict: ChatDead, Reason: RecipientKicked, Detail: "bot was kicked", Answered: true})
				}
				var ids []int64
				for _, chat := range append(chats, chats...) {
					ids = append(ids, w.put(chat, "x"))
				}
				for range 6 {
					w.runFor(10 * time.Minute)
					if restarts {
						w.restart()
					}
				}
				if s := w.status(); s.State != SenderWaiting {
					t.Errorf("the sender is %+v", s)
				}
				calls := 0
				for _, n := range w.channel.calls {
					calls += n
				}
				if calls -= 20; calls > 80 {
					t.Errorf("%d calls in the hour", calls)
				}
				refusing = false
				w.runFor(5 * time.Minute)
				for _, id := range ids {
					w.wantState(id, StateSent, "")
				}
				for _, chat := range chats {
					if r := w.recipient(chat); r.State != RecipientOpen {
						t.Errorf("chat %s is %s", chat, r.State)
					}
				}
			})
		})
	}
}

func TestACampaignGoesOnAfterFiveWhoReallyLeft(t *testing.T) {
	inWorlds(t, func(w *world) {
		chats := fiveTo(40)
		w.acquaint(chats...)
		left := map[string]bool{}
		for _, chat := range chats[:5] {
			left[chat] = true
		}
		w.channel.send = func(address, _ string, _ int) CallResult {
			return when(left[address], CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Detail: "blocked", Answered: true})
		}
		var ids []int64
		for _, chat := range chats {
			ids = append(ids, w.put(chat, "news"))
		}
		w.runFor(20 * time.Minute)
		for i, id := range ids {
			if i < 5 {
				w.wantState(id, StateDead, ReasonChatDead)
			} else {
				w.wantState(id, StateSent, "")
			}
		}
		for chat := range left {
			if n := w.channel.calls[chat] - 1; n > 3 {
				t.Errorf("%d calls to a chat that left", n)
			}
		}
	})
}

func TestStrangersNeitherCountNorBreakTheRow(t *testing.T) {
	now := time.Now()
	var g Guard
	for i := range 4 {
		g.Refused(fmt.Sprint(i), true, false, now)
		g.Refused(fmt.Sprint("stranger", i), false, false, now)
		g.Refused(fmt.Sprint("spared", i), true, true, now)
		g.Refused(fmt.Sprint(i), true, false, now) // the same chat again
	}
	if g.Active() {
		t.Fatal("four chats are enough for the guard")
	}
	if back := g.Refused("4", true, false, now); len(back) != 5 || !g.Active() {
		t.Errorf("the fifth took back %v", back)
	}
	if !g.Accepted() || g.Active() {
		t.Error("an acceptance did not end the guard")
	}
}

func TestReleaseEndsTheGuard(t *testing.T) {
	inWorlds(t, func(w *world) {
		chats := fiveTo(6)
		w.acquaint(chats...)
		w.channel.send = func(string, string, int) CallResult {
			return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
		}
		var ids []int64
		for _, chat := range chats {
			ids = append(ids, w.put(chat, "x"))
		}
		w.runFor(30 * time.Second)
		w.write(func(tx database.Tx) error { return w.box.ReleaseSender(tx, time.Now()) })
		w.runFor(time.Minute)
		for _, id := range ids {
			w.wantState(id, StateDead, ReasonChatDead)
		}
	})
}

func TestARetryIsRefusedOnlyWhenItsOwnRecipientHeardMore(t *testing.T) {
	inWorlds(t, func(w *world) {
		about := func(n *NewMessage) { n.Subject = "order:1" }
		w.channel.send = func(_, text string, _ int) CallResult {
			return when(text == "first", CallResult{Verdict: Rejected, Answered: true})
		}
		first := w.put("1", "first", about)
		w.put("-100", "for the staff", about)
		w.runFor(time.Minute)
		retry := func() error {
			return w.db.Write(context.Background(), func(tx database.Tx) error {
				_, err := w.box.Retry(tx, time.Now(), first, false)
				return err
			})
		}
		if err := retry(); err != nil {
			t.Errorf("the staff's message is in the way: %v", err)
		}
		w.d.Wake()
		w.put("1", "second", about)
		w.runFor(time.Minute)
		var conflict *ConflictError
		if err := retry(); !errors.As(err, &conflict) || conflict.Code != ConflictOvertaken {
			t.Errorf("after a later message: %v", err)
		}
	})
}

func TestWhatExpiredWhileNothingRanIsNotSentAtTheStart(t *testing.T) {
	for name, ask := range map[string]time.Duration{"a quick getMe": time.Millisecond, "a slow one": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorlds(t, func(w *world) {
				w.channel.identify = func() CallResult {
					time.Sleep(ask)
					return CallResult{}
				}
				old := w.put("1", "old", func(n *NewMessage) { n.ExpiresAt = time.Now().Add(time.Minute) })
				aged := w.put("2", "aged")
				time.Sleep(73 * time.Hour)
				fresh := w.put("3", "fresh")
				if _, err := w.pass(); err != nil {
					t.Fatal(err)
				}
				w.wantState(old, StateDead, ReasonExpired)
				w.wantState(aged, StateDead, ReasonExpired)
				w.wantState(fresh, StateSent, "")
				w.wantTexts("", "fresh")
			})
		})
	}
}

func TestTheStatusSaysThatNobodyAnswers(t *testing.T) {
	inWorlds(t, func(w *world) {
		silent := true
		nobody := CallResult{Verdict: Uncertain, Detail: "no answer in time"}
		w.channel.identify = func() CallResult { return when(silent, nobody) }
		w.channel.touch = func(string) CallResult { return when(silent, nobody) }
		w.channel.send = func(string, string, int) CallResult { return when(silent, nobody) }
		w.runFor(15 * time.Second) // nothing to send at all
		if s := w.status(); s.State != SenderWaiting || !strings.Contains(s.Reason, "no answer in time") {
			t.Errorf("on a quiet night the sender is %+v", s)
		}
		id := w.put("1", "x")
		w.runFor(time.Minute)
		if s := w.status(); s.State != SenderWaiting {
			t.Errorf("with one message the sender is %+v", s)
		}
		silent = false
		w.runFor(2 * time.Minute)
		w.wantState(id, StateSent, "")
		if s := w.status(); s.State != SenderRunning {
			t.Errorf("afterwards the sender is %+v", s)
		}
	})
}

func TestReleaseAnswersWithWhatItDid(t *testing.T) {
	inWorlds(t, func(w *world) {
		chats := fiveTo(6)
		w.acquaint(chats...)
		w.channel.send = func(string, string, int) CallResult {
			return CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true}
		}
		for _, chat := range chats {
			w.put(chat, "x")
		}
		w.runFor(30 * time.Second)
		var before, after SenderStatus
		w.write(func(tx database.Tx) (err error) {
			if before, err = w.box.Status(tx, time.Now()); err != nil {
				return err
			}
			if err := w.box.ReleaseSender(tx, time.Now()); err != nil {
				return err
			}
			after, err = w.box.Status(tx, time.Now())
			return err
		})
		if before.State != SenderWaiting || after.State != SenderRunning {
			t.Errorf("before the release %+v, after it %+v", before, after)
		}
	})
}

func TestTheGuardTakesBackNothingFromAnEarlierDeath(t *testing.T) {
	inWorlds(t, func(w *world) {
		chats := fiveTo(5)
		w.acquaint(chats...)
		refusing := true
		w.channel.send = func(string, string, int) CallResult {
			return when(refusing, CallResult{Verdict: ChatDead, Reason: RecipientBlocked, Answered: true})
		}
		old := w.put(chats[4], "from last month")
		w.runFor(time.Minute)
		w.wantState(old, StateDead, ReasonChatDead)
		w.write(func(tx database.Tx) error {
			_, err := w.box.Revive(tx, time.Now(), chats[4])
			return err
		})
		refusing = false
		w.acquaint(chats...) // and so the row begins anew
		time.Sleep(30 * 24 * time.Hour)
		refusing = true
		for _, chat := range chats { // the fifth to be refused is the one with the old message
			w.put(chat, "x")
			w.runFor(10 * time.Second)
		}
		if s := w.status(); s.State != SenderWaiting {
			t.Fatalf("the guard does not hold: %+v", s)
		}
		w.wantState(old, StateDead, ReasonChatDead)
	})
}

func TestAnExpiryThatCannotBeStoredIsTriedAgainForAll(t *testing.T) {
	inWorlds(t, func(w *world) {
		soon := func(n *NewMessage) { n.ExpiresAt = time.Now().Add(time.Hour) }
		one, two, three := w.put("customer:1", "x", soon), w.put("customer:2", "y", soon), w.put("customer:3", "z", soon)
		w.exec(`CREATE TRIGGER broken BEFORE UPDATE ON outbox WHEN new.reason = 'expired'
			BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
		w.runFor(2 * time.Hour)
		w.wantState(one, StatePending, "")
		w.exec(`DROP TRIGGER broken`)
		w.runFor(time.Minute)
		for _, id := range []int64{one, two, three} {
			w.wantState(id, StateDead, ReasonExpired)
		}
	})
}
