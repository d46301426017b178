package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// kills is how often the program is killed at some moment of a run.
const kills = 60

// The program is killed over and over while clients post orders and messages go out. Then it is
// left alone, and the books are compared: every order that was acknowledged is there with its
// message, every message was sent, and no customer has more copies than there were calls in the
// air at the kills.
func TestOB1AndOB16KillsLoseNothingAndRepeatOnlyWhatWasInTheAir(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_RATE_BOT=400", "NOTIFIER_RATE_CHAT=100", "NOTIFIER_SEND_TIMEOUT=5s")
	if err := s.sandbox.SetLimits(sandbox.Limits{Latency: 15 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	b := &ledger{acknowledged: map[string]bool{}}
	for round := range kills {
		v := s.serve()
		before := s.sandbox.Stats().Calls
		shop, closeShop := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for client := range 4 {
			clients.Go(func() { b.trade(shop, v, round, client) })
		}
		// The moment of the kill: after so many calls, and up to a call's length later.
		calls := before + random.IntN(25)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Calls >= calls })
		cancel()
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		v.kill()
		closeShop()
		clients.Wait()
		b.inTheAir += s.inTheAir()
	}
	v := s.serve()
	s.waitUntilNothingWaits(v, 2*time.Minute)
	if err := v.stop(); err != nil {
		t.Errorf("the last run ended with %v\n%s", err, v.log)
	}
	s.compare(b)
}

// ledger are what the shop knows.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]bool // numbers of orders that were answered with 201
	inTheAir     int
}

// perRound is how many orders each client posts between two kills, at most.
const perRound = 8

// trade posts orders until the service is killed.
func (b *ledger) trade(ctx context.Context, v *service, round, client int) {
	for i := 0; i < perRound && ctx.Err() == nil; i++ {
		number := fmt.Sprintf("R%d-%d-%d", round, client, i)
		status, _, err := v.post("/orders", "", order(number, 1000+(client*10+i)%40))
		if err != nil {
			return
		}
		if status == 201 {
			b.mu.Lock()
			b.acknowledged[number] = true
			b.mu.Unlock()
		}
	}
}

// inTheAir is how many calls had begun when the program died, and whose outcome it had not yet
// written down: they had been made and not answered, or answered and not recorded.
func (s *programEnv) inTheAir() (n int) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.database())
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	if err := db.QueryRow(`SELECT count(*) FROM notifier_attempts WHERE result = 'open'`).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// openCalls are the calls that the sandbox has taken and not answered.
func (s *programEnv) openCalls() (n int) {
	for _, c := range s.sandbox.Calls() {
		if c.Method == "sendMessage" && c.Outcome == sandbox.OutcomeOpen {
			n++
		}
	}
	return n
}

func (s *programEnv) waitUntilNothingWaits(v *service, atMost time.Duration) {
	s.t.Helper()
	end := time.Now().Add(atMost)
	for _, state := range []string{"pending", "sending"} {
		for {
			_, list, err := v.get("/messages?limit=1&state=" + state)
			if err != nil {
				s.t.Fatal(err)
			}
			items, _ := list["items"].([]any)
			if len(items) == 0 {
				break
			}
			if time.Now().After(end) {
				s.t.Fatalf("messages still wait: %v\n%s", items, v.log)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func (s *programEnv) compare(b *ledger) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.database())
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	rows, err := db.Query(`SELECT o.number, count(m.id), min(m.state), max(m.doubts)
		FROM notifier_orders o LEFT JOIN outbox m ON m.subject = 'order:' || o.id GROUP BY o.id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // a test
	found := map[string]bool{}
	uncertain := 0 // they may have been delivered, or not
	for rows.Next() {
		var number, state string
		var messages, doubts int
		if err := rows.Scan(&number, &messages, &state, &doubts); err != nil {
			s.t.Fatal(err)
		}
		found[number] = true
		if state == "uncertain" {
			uncertain++
		}
		if messages != 1 {
			s.t.Errorf("order %s has %d messages", number, messages)
		}
		if state != "sent" && (state != "uncertain" || doubts != 2) {
			s.t.Errorf("the message of order %s is %s", number, state)
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	for number := range b.acknowledged {
		if !found[number] {
			s.t.Errorf("order %s was acknowledged and is lost", number)
		}
	}
	s.compareCopies(b, len(found), uncertain)
}

// compareCopies compares what customers saw with what the database says of it.
func (s *programEnv) compareCopies(b *ledger, found, uncertain int) {
	s.t.Helper()
	copies := map[string]int{}
	for _, m := range s.sandbox.Messages() {
		copies[m.Text]++
	}
	repeated := 0
	for text, n := range copies {
		repeated += n - 1
		if n > 2 {
			s.t.Errorf("%d copies of %q", n, text)
		}
	}
	s.t.Logf("%d kills: %d orders acknowledged, %d in the database, %d texts delivered, %d of them twice, %d calls in the air",
		kills, len(b.acknowledged), found, len(copies), repeated, b.inTheAir)
	if len(copies) > found || len(copies) < found-uncertain {
		s.t.Errorf("%d orders, %d different texts, %d uncertain", found, len(copies), uncertain)
	}
	if repeated > b.inTheAir {
		s.t.Errorf("%d repetitions, with %d calls in the air", repeated, b.inTheAir)
	}
	if len(b.acknowledged) < kills {
		s.t.Errorf("only %d orders were acknowledged: the test shows nothing", len(b.acknowledged))
	}
}
