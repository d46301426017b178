package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// A shop of some years has half a million sent messages in its table. Its orders must not notice, and
// what a customer does, or Telegram says of one, costs the same as ever.
func TestH1OrdersBesideHalfAMillionSentRows(t *testing.T) {
	rows := 150_000
	if long() {
		rows = 500_000
	}
	c := newCoreEnv(t)
	c.end(c.serve())
	seedSent(t, c.database(), rows)
	v := c.serve()
	c.ordersAreQuick(v)
	c.refusalsAreQuick(v)
	c.end(v)
}

func (c *coreEnv) ordersAreQuick(v *service) {
	c.t.Helper()
	const orders, perSecond = 200, 20
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	statuses := map[int]int{}
	beat := time.NewTicker(time.Second / perSecond)
	defer beat.Stop()
	for i := range orders {
		<-beat.C
		all.Go(func() {
			began := time.Now()
			status, _, err := v.post("/orders", "", order(fmt.Sprint("B-", i), 10_000_000+i))
			if err != nil {
				status = 0
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
			took = append(took, time.Since(began))
		})
	}
	all.Wait()
	slices.Sort(took)
	worst := took[orders*99/100]
	c.t.Logf("%d orders: statuses %v, median %v, 99%% within %v", orders, statuses, took[orders/2], worst)
	if statuses[http.StatusCreated] != orders || worst > 2*time.Second {
		c.t.Errorf("%d orders: statuses %v, 99%% within %v", orders, statuses, worst)
	}
}

func (c *coreEnv) refusalsAreQuick(v *service) {
	c.t.Helper()
	const chats, patience = 100, 3 * time.Second
	dead := func(reason string) (n int) {
		items, _ := c.show(v, "/chats?limit=500&state=dead")["items"].([]any)
		for _, item := range items {
			if chat, _ := item.(map[string]any); chat["reason"] == reason {
				n++
			}
		}
		return n
	}
	c.wait(2*time.Minute, "the orders were told", func() bool { return c.listed(v, "/messages?state=pending") == 0 })
	for reason, act := range map[string]func(chat int64){
		"blocked": func(chat int64) {
			c.fault(20_000_000+chat, 1, blocked)
			c.say(v, 20_000_000+chat, "refused")
		},
		"stopped": func(chat int64) {
			if err := c.sandbox.Write(30_000_000+chat, "/stop"); err != nil {
				c.t.Fatal(err)
			}
		},
	} {
		began := time.Now()
		for chat := range int64(chats) {
			act(chat)
		}
		c.becomesOr(2*time.Minute, "all chats were dead: "+reason, func() bool { return dead(reason) == chats })
		took := time.Since(began)
		c.t.Logf("it took %v until %d chats were dead (%s)", took, chats, reason)
		if took > patience {
			c.t.Errorf("it took %v until %d chats were dead (%s)", took, chats, reason)
		}
	}
}

// After a night's outage many customers wait who never connected a chat. None of them can go, and
// looking past them for a message that can must not keep the shop out of its database.
func TestH6AStartInAnOutageWithManyCustomersWithoutAChat(t *testing.T) {
	const customers = 64_000
	c := newCoreEnv(t)
	v := c.serve()
	c.fault(0, 0, sandbox.Respond{Status: 500})
	c.say(v, 100, "in the outage")
	c.wait(30*time.Second, "three calls failed", func() bool { return len(c.sends(0)) == 3 })
	c.end(v)
	before := len(c.sends(0))
	seedWaiting(t, c.database(), customers, "'customer:nobody-' || n")
	locks := c.watchLock()
	v = c.serve()
	c.becomesOr(45*time.Second, "a message tried again", func() bool { return len(c.sends(0)) > before })
	longest := locks()
	t.Logf("%d customers without a chat: another program waited %v for the write lock at the longest", customers, longest)
	if longest > 3*time.Second {
		t.Errorf("the write lock was held for %v", longest)
	}
	if status, answer, err := v.post("/orders", "", order("N-1", 900)); err != nil || status != http.StatusCreated {
		t.Errorf("an order: %d %v %v", status, answer, err)
	}
}

// watchLock takes SQLite's write lock again and again as another program does, until the returned
// function is called, which says how long it had to wait for it at the longest.
func (c *coreEnv) watchLock() func() time.Duration {
	c.t.Helper()
	db := c.open()
	ctx, cancel := context.WithCancel(context.Background())
	var longest time.Duration
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			conn, err := db.Conn(context.Background())
			if err != nil {
				return
			}
			_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
			longest = max(longest, time.Since(began))
			if err == nil {
				_, _ = conn.ExecContext(context.Background(), "ROLLBACK")
			}
			_ = conn.Close()
			time.Sleep(20 * time.Millisecond) // the others' turn
		}
	})
	return func() time.Duration {
		cancel()
		watching.Wait()
		return longest
	}
}

// becomesOr goes on with an error when something does not come in time.
func (c *coreEnv) becomesOr(d time.Duration, what string, so func() bool) {
	c.t.Helper()
	if !becomes(d, so) {
		c.t.Errorf("within %v it did not happen that %s", d, what)
	}
}

// Somebody retries everything that died in a bad week, while the day's messages are on their way. The
// sender goes on beside it.
func TestH7ABulkRetryDoesNotStopTheSender(t *testing.T) {
	const dead = 20_000
	const patience = 10 * time.Second
	c := newCoreEnv(t, "NOTIFIER_RATE_BOT=28")
	c.end(c.serve())
	seedEnded(t, c.database(), dead, "dead", "too_many_attempts")
	seedWaiting(t, c.database(), 2000, "CAST(1000000 + n AS TEXT)")
	v := c.serve()
	c.wait(20*time.Second, "the sender works", func() bool { return len(c.sends(0)) > 10 })
	began := time.Now()
	answered := make(chan string, 1)
	go func() {
		status, answer, err := v.post("/messages/retry", "", `{"state":"dead"}`)
		answered <- fmt.Sprint(status, answer["count"], err)
	}()
	got := ""
	var longest time.Duration
	seen, until, last := len(c.sends(0)), 0, began
	for until == 0 || seen < until {
		select {
		case got = <-answered:
			t.Logf("the retry was answered after %v", time.Since(began))
			until = seen + 100 // and what comes of it shows in the next hundred calls
		default:
		}
		if n := len(c.sends(0)); n > seen {
			seen, last = n, time.Now()
		}
		longest = max(longest, time.Since(last))
		if time.Since(began) > 3*time.Minute {
			t.Fatal("the retry has not come to its end within 3 min")
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("beside a retry of %d the longest time without a call was %v", dead, longest)
	if longest > patience {
		t.Errorf("beside a retry of %d no call was made for %v", dead, longest)
	}
	if want := fmt.Sprint(200, float64(dead), error(nil)); got != want {
		t.Errorf("the retry was answered with %s, want %s; %d are still dead", got, want,
			c.count(c.open(), `SELECT count(*) FROM outbox WHERE state = 'dead'`))
	}
}
