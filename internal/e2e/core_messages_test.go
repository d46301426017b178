package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// oddID is the id of a row that cannot be read.
const oddID = 7_000_041

// Whatever a writer of the table puts into one row is that row's trouble: it is refused, or ends by
// itself and is named. Everybody else's messages go on.
func TestH3OneUnreadableRowStopsNobody(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"a time beyond all calendars": "9223372036854775807, 1700000000000",
		"a time that is a word":       "NULL, 'soon'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCoreEnv(t)
			v := c.serve()
			insert := fmt.Sprintf(`INSERT INTO outbox (id, recipient, type, payload, not_before, created_at) VALUES (%d, '41', 'Text', '{"text":"odd"}', %s)`, oddID, row)
			db := c.open()
			db.SetMaxOpenConns(1)
			_, err := db.Exec(insert)
			t.Logf("the insert: %v", err)
			taken := err == nil
			if taken {
				t.Error("the table took the row")
			}
			// A writer can switch the CHECKs off.
			if _, err := db.Exec("PRAGMA ignore_check_constraints = ON"); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(insert); err == nil || taken {
				c.wantUnreadable(v, db)
			}
			id := c.say(v, 42, "of another customer")
			c.wantState(v, id, "sent", 15*time.Second)
			c.end(v)
			v = c.serve()
			id = c.say(v, 42, "after a restart")
			c.wantState(v, id, "sent", 15*time.Second)
			c.endTold(v)
		})
	}
}

// wantUnreadable waits until the odd row has ended, and wants it named.
func (c *coreEnv) wantUnreadable(v *service, db *sql.DB) {
	c.t.Helper()
	var state, reason sql.NullString
	ended := becomes(15*time.Second, func() bool {
		err := db.QueryRow(`SELECT state, reason FROM outbox WHERE id = ?`, oddID).Scan(&state, &reason)
		return err == nil && state.String == "dead"
	})
	if !ended || reason.String != "rejected" {
		c.t.Errorf("the odd row is %s (%s)", state.String, reason.String)
	}
	if !becomes(5*time.Second, func() bool { return strings.Contains(c.problems(v), fmt.Sprint(oddID)) }) {
		c.t.Errorf("/readyz does not name it: %s", c.problems(v))
	}
}

// One message that can be retried can be retried among many.
func TestH12ABulkRetryTakesWhatASingleOneTakes(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t, "NOTIFIER_STAFF_CHAT_ID=990")
	v := c.serve()
	c.fault(7, 1, sandbox.Respond{Status: 400, Description: "Bad Request: PHOTO_INVALID_DIMENSIONS"})
	placed := c.do(v, "/orders", order("A-1", 7))
	messages, _ := placed["messages"].([]any)
	ids := map[string]int64{}
	for _, m := range messages {
		m, _ := m.(map[string]any)
		ids[fmt.Sprint(m["type"])] = number(m, "messageId")
	}
	c.wantState(v, ids["OrderPlaced"], "dead", 15*time.Second)
	c.wantState(v, ids["StaffOrderPlaced"], "sent", 15*time.Second)
	for _, dry := range []bool{true, false} {
		answer := c.do(v, "/messages/retry", fmt.Sprintf(`{"state":"dead","dryRun":%v}`, dry))
		if n := number(answer, "count"); n != 1 {
			t.Errorf("dry run %v: %d messages", dry, n)
		}
	}
	c.wantState(v, ids["OrderPlaced"], "sent", 10*time.Second)
	c.end(v)
}

// A message that ends while it waits for its next try takes its back-off with it.
func TestH13WhatComesAfterAnEndedMessageDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	const patience = 12 * time.Second // the back-off after the third failure is 24 s at least
	c := newCoreEnv(t)
	v := c.serve()
	for _, chat := range []int64{7, 8} {
		c.fault(chat, 3, sandbox.Respond{Status: 500})
	}
	c.do(v, "/orders", order("A-8", 8))
	if err := c.sandbox.Write(7, "/help"); err != nil {
		t.Fatal(err)
	}
	// Other customers' messages go out meanwhile: this is no outage.
	c.wait(60*time.Second, "both messages failed three times", func() bool {
		c.say(v, 100, "of another customer")
		return c.answered(7) == 3 && c.answered(8) == 3
	})
	c.say(v, 100, "of another customer")
	began := time.Now()
	if err := c.sandbox.Write(7, "/help"); err != nil {
		t.Fatal(err)
	}
	c.becomesOr(patience, "the second /help was answered", func() bool { return c.delivered(7, "/orders") > 0 })
	t.Logf("the answer to the second /help: after %v", time.Since(began))
	c.must("customer", "forget", "c-8")
	began = time.Now()
	c.say(v, 8, "after forgetting")
	c.becomesOr(patience, "the next message to the forgotten customer's chat was sent", func() bool { return c.delivered(8, "after forgetting") > 0 })
	t.Logf("the message after forgetting: after %v", time.Since(began))
	c.endTold(v)
}

// answered is how many calls of sendMessage to a chat have had their answer.
func (c *coreEnv) answered(chat int64) (n int) {
	for _, call := range c.sends(chat) {
		if call.Outcome == sandbox.OutcomeAnswered {
			n++
		}
	}
	return n
}

// A message ends at its time, also when a call to its chat is under way then, and when a gate of
// hours follows.
func TestH14AMessageExpiresBehindOneThatIsUnderWay(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t)
	v := c.serve()
	c.fault(7, 1, sandbox.Respond{Status: 429, RetryAfter: seconds(8 * 3600), Delay: 5 * time.Second})
	first := c.say(v, 7, "under way", at("expiresAt", 12*time.Second))
	c.waitOpen(1)
	second := c.say(v, 7, "behind it", at("expiresAt", 2*time.Second))
	for id, within := range map[int64]time.Duration{second: 10 * time.Second, first: 25 * time.Second} {
		c.wantState(v, id, "dead", within)
		if m := c.message(v, id); m["reason"] != "expired" {
			t.Errorf("message %d: %v (%v)", id, m["state"], m["reason"])
		}
	}
	if calls := c.sends(7); len(calls) != 1 {
		t.Errorf("calls: %s", textsOf(calls))
	}
	c.endTold(v)
}

// send-now does not shorten the wait of a message that Telegram may have, and says so.
func TestH15SendNowLeavesTheWaitOfAnUncertainMessage(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t)
	v := c.serve()
	c.fault(7, 1, sandbox.Respond{Drop: sandbox.DropAfter})
	id := c.say(v, 7, "perhaps there")
	c.wait(15*time.Second, "its answer was lost", func() bool {
		attempts, _ := c.message(v, id)["attempts"].([]any)
		return c.state(v, id) == "pending" && len(attempts) == 1
	})
	// It may be taken, and change nothing, or be refused with the reason.
	status, answer, err := v.post(fmt.Sprintf("/messages/%d/send-now", id), "", "{}")
	if err != nil || status != http.StatusOK && (status != http.StatusConflict || !strings.Contains(fmt.Sprint(answer["detail"]), "may have")) {
		t.Errorf("send-now: %d %v %v", status, answer, err)
	}
	if e := c.show(v, fmt.Sprintf("/messages/%d/explain", id)); e["code"] != "uncertain" {
		t.Errorf("explain after send-now: %v %v until %v", e["code"], e["text"], e["until"])
	}
	c.becomesOr(75*time.Second, "it was tried again", func() bool { return len(c.sends(7)) == 2 })
	if calls := c.sends(7); len(calls) > 1 {
		waited := calls[1].ReceivedAt.Sub(calls[0].ReceivedAt)
		t.Logf("the second try came after %v", waited)
		if waited < 28*time.Second {
			t.Errorf("the second try came after %v", waited)
		}
	}
	c.wantState(v, id, "sent", 10*time.Second)
	c.end(v)
}

// Nobody can say that a message was not delivered whose one answer was lost.
func TestH19WhatTelegramMayHaveEndsUncertain(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t)
	v := c.serve()
	for _, chat := range []int64{7, 8} {
		c.fault(chat, 1, sandbox.Respond{Drop: sandbox.DropAfter})
	}
	old := c.say(v, 7, "it expires", at("expiresAt", 6*time.Second))
	left := c.say(v, 8, "its customer leaves")
	c.wait(15*time.Second, "both answers were lost", func() bool {
		return c.delivered(7, "it expires") == 1 && c.delivered(8, "its customer leaves") == 1 && c.state(v, left) == "pending"
	})
	if err := c.sandbox.Block(8); err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]int64{"that expired": old, "whose chat died": left} {
		c.becomesOr(25*time.Second, "the message "+what+" ended", func() bool { return c.state(v, id) != "pending" })
		if state := c.state(v, id); state != "uncertain" {
			t.Errorf("the message %s, which was delivered: %s", what, c.explain(v, id))
		}
	}
	c.end(v)
}
