package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// A customer or a group that gets another chat while a call is under way still reads what comes
// first at first, and never two calls at once.
func TestH8OrderHoldsAcrossALinkAndAMove(t *testing.T) {
	t.Parallel()
	fails := sandbox.Respond{Status: 500, Delay: 3 * time.Second}
	t.Run("link", func(t *testing.T) {
		t.Parallel()
		c := newCoreEnv(t)
		v := c.serve()
		id := number(c.do(v, "/orders", order("A-1", 7)), "orderId")
		c.wait(15*time.Second, "the order was told", func() bool { return c.delivered(7, "A-1") == 1 })
		c.fault(7, 1, fails)
		c.do(v, fmt.Sprintf("/orders/%d/status", id), `{"status":"paid"}`)
		c.waitOpen(1)
		// The customer of chat 7 orders again, from chat 9.
		c.do(v, "/orders", `{"number":"A-2","customer":{"id":"c-7","chatId":9},"currency":"EUR","totalCents":1}`)
		c.do(v, fmt.Sprintf("/orders/%d/status", id), `{"status":"shipped"}`)
		c.wantInOrder(v, "A-1", "paid", "A-2", "shipped")
	})
	t.Run("move", func(t *testing.T) {
		t.Parallel()
		const group, super = -5001, -1005001
		c := newCoreEnv(t)
		v := c.serve()
		c.wantState(v, c.say(v, group, "first"), "sent", 15*time.Second)
		c.fault(group, 1, fails)
		c.say(v, group, "paid")
		c.waitOpen(1)
		if err := c.sandbox.Migrate(group, super); err != nil {
			t.Fatal(err)
		}
		c.wait(10*time.Second, "the move was heard of", func() bool {
			return c.show(v, fmt.Sprintf("/chats/%d", group))["chatId"] == float64(super)
		})
		c.say(v, group, "shipped")
		c.wantInOrder(v, "first", "paid", "shipped")
	})
}

// wantInOrder waits until the last of some texts was delivered, and wants each once, in this order,
// with no two calls under way at once.
func (c *coreEnv) wantInOrder(v *service, texts ...string) {
	c.t.Helper()
	c.becomesOr(60*time.Second, "everything was sent", func() bool {
		return c.listed(v, "/messages?state=sent") >= len(texts) && c.listed(v, "/messages?state=pending") == 0
	})
	messages := c.sandbox.Messages()
	shown := ""
	for _, m := range messages {
		shown += fmt.Sprintf("\n  chat %d: %.60q", m.ChatID, m.VisibleText)
	}
	for i, m := range messages {
		if i >= len(texts) || !strings.Contains(m.VisibleText, texts[i]) {
			c.t.Errorf("delivered, want %v:%s", texts, shown)
			break
		}
	}
	calls := c.sends(0)
	for i, call := range calls[1:] {
		if before := calls[i]; call.ReceivedAt.Before(before.AnsweredAt) {
			c.t.Errorf("a call to chat %d began %v before the one to chat %d ended", call.ChatID, before.AnsweredAt.Sub(call.ReceivedAt), before.ChatID)
		}
	}
	c.endTold(v)
}

// Nothing of a customer who is forgotten while a call to them is under way comes back with its answer.
func TestH18ForgettingACustomerWhileACallIsUnderWay(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t)
	v := c.serve()
	c.fault(770077, 1, sandbox.Respond{Status: 500, Delay: 3 * time.Second})
	placed := c.do(v, "/orders", `{"number":"A-1","customer":{"id":"c-77","name":"Annabella","chatId":770077},"currency":"EUR","totalCents":1}`)
	messages, _ := placed["messages"].([]any)
	first, _ := messages[0].(map[string]any)
	id := number(first, "messageId")
	c.waitOpen(1)
	c.must("customer", "forget", "c-77")
	c.waitOpen(0)
	c.wantState(v, id, "canceled", 10*time.Second)
	// What stays somewhere in the file shows only there.
	for _, personal := range []string{"770077", "Annabella"} {
		var where []string
		if !becomes(5*time.Second, func() bool { where = c.columnsWith(personal); return len(where) == 0 }) {
			t.Errorf("%s stays in %v", personal, where)
		}
	}
	if n := len(c.sends(770077)); n != 1 {
		t.Errorf("%d calls to the forgotten customer", n)
	}
	c.endTold(v)
}

// columnsWith names the columns of all tables that hold a text.
func (c *coreEnv) columnsWith(text string) (found []string) {
	c.t.Helper()
	db := c.open()
	defer db.Close() //nolint:errcheck // a test
	rows, err := db.Query(`SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'`)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // a test
	var columns [][2]string
	for rows.Next() {
		var column [2]string
		if err := rows.Scan(&column[0], &column[1]); err != nil {
			c.t.Fatal(err)
		}
		columns = append(columns, column)
	}
	for _, column := range columns {
		query := fmt.Sprintf(`SELECT count(*) FROM %q WHERE %q LIKE '%%%s%%'`, column[0], column[1], text)
		if c.count(db, query) > 0 {
			found = append(found, column[0]+"."+column[1])
		}
	}
	return found
}

// The wait that Telegram asks for holds for the chat that a group has become meanwhile.
func TestH20AGateFollowsAGroupThatMoved(t *testing.T) {
	t.Parallel()
	const group, super = -5001, -1005001
	const wait = 8
	c := newCoreEnv(t)
	v := c.serve()
	c.wantState(v, c.say(v, group, "first"), "sent", 15*time.Second)
	c.fault(group, 1, sandbox.Respond{Status: 429, RetryAfter: seconds(wait), Delay: 2 * time.Second})
	id := c.say(v, group, "too fast")
	c.waitOpen(1)
	if err := c.sandbox.Migrate(group, super); err != nil {
		t.Fatal(err)
	}
	c.wantState(v, id, "sent", 40*time.Second)
	told := c.sends(group)[1].AnsweredAt
	if calls := c.sends(super); len(calls) == 0 || calls[0].ReceivedAt.Before(told.Add(wait*time.Second)) {
		t.Errorf("told at %v to wait %d s; the calls to the supergroup: %s", told, wait, timesOf(calls))
	}
	c.end(v)
}

func timesOf(calls []sandbox.Call) (list []string) {
	for _, call := range calls {
		list = append(list, call.ReceivedAt.Format(time.RFC3339Nano))
	}
	return list
}
