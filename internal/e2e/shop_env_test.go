package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// foreign opens the database as another program does.
func (s *programEnv) foreign() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.database()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *programEnv) number(db *sql.DB, query string) (n int) {
	s.t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// must runs a verb that has to end well, and returns what it printed.
func (s *programEnv) must(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("notifier %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// crowd posts orders without a chat from many clients until its context ends; each answer must be a 201.
type crowd struct {
	placed atomic.Int64
	mu     sync.Mutex
	took   []time.Duration
}

func (c *crowd) shop(ctx context.Context, t *testing.T, v *service, clients int, pause time.Duration) *sync.WaitGroup {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				began := time.Now()
				body := fmt.Sprintf(`{"customer":{"id":"c-%d"},"currency":"EUR","totalCents":1,"number":"%d-%d-%d"}`, client, client, i, began.UnixNano())
				status, answer, err := v.post("/orders", "", body)
				if ctx.Err() != nil && err != nil {
					return // the service ends
				}
				if err != nil || status != http.StatusCreated {
					t.Errorf("an order: %d %v %v", status, answer, err)
					return
				}
				c.placed.Add(1)
				c.mu.Lock()
				c.took = append(c.took, time.Since(began))
				c.mu.Unlock()
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
			}
		})
	}
	return &all
}

// slowest is the time that all but one in a hundred took at most.
func (c *crowd) slowest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.took) == 0 {
		return 0
	}
	slices.Sort(c.took)
	return c.took[len(c.took)*99/100]
}

// oldRows puts sent messages of 60 days ago into the database.
func (s *programEnv) oldRows(db *sql.DB, n, payload int) {
	s.t.Helper()
	_, err := db.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
		INSERT INTO outbox (recipient, type, payload, address, state, ended_at)
		SELECT '7', 'Text', json_object('text', printf('%.*c', ?, 'x')), '7', 'sent', CAST(strftime('%s') AS INTEGER) * 1000 - 60 * 86400000 FROM i`,
		n, payload)
	if err != nil {
		s.t.Fatal(err)
	}
}
