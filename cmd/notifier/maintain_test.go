package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// databasePath is where the town's database is.
func (c *env) databasePath() string {
	path := ""
	for _, pair := range c.environ {
		if value, found := strings.CutPrefix(pair, "DATABASE_URL="); found {
			path = value
		}
	}
	return path
}

// sql runs statements on the town's database as another program would.
func (c *env) sql(statements ...string) {
	c.t.Helper()
	db, err := sql.Open("sqlite", "file:"+escapePath.Replace(c.databasePath())+"?_pragma=busy_timeout(5000)")
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			c.t.Fatalf("%s: %v", s, err)
		}
	}
}

var escapePath = strings.NewReplacer("%", "%25", "#", "%23", "?", "%3f", " ", "%20")

// makeOld puts a database there as the first version made it.
func (c *env) makeOld() {
	c.t.Helper()
	schema, err := os.ReadFile(c.root + "/internal/database/testdata/schema-1.sql")
	if err != nil {
		c.t.Fatal(err)
	}
	c.sql(string(schema))
}

// want runs the program and fails the test unless it ends with this code and says these words.
func (c *env) want(code int, words string, args ...string) string {
	c.t.Helper()
	got, out, log := c.run(args...)
	if got != code || !strings.Contains(out+log, words) {
		c.t.Errorf("notifier %s: exit code %d, want %d with %q:\n%s%s", strings.Join(args, " "), got, code, words, out, log)
	}
	return out
}

func TestMigrate(t *testing.T) {
	c := newEnv(t)
	c.removeDatabase()
	c.want(0, "no database", "migrate")
	c.makeOld()
	c.want(exitFailure, "run `notifier migrate`", "sender")
	c.want(0, "from version 1 to 3", "migrate")
	c.want(0, "version 3 already", "migrate")
	c.want(0, "No process sends", "sender")
}

// Field case SQ-11: after a rollback the older program refuses the newer database and leaves it alone.
func TestSQ11AnOlderProgramLeavesANewerDatabaseAlone(t *testing.T) {
	c := newEnv(t)
	c.want(0, "", "pause")
	c.sql("UPDATE notifier_schema SET version = version + 1", "PRAGMA wal_checkpoint(TRUNCATE)")
	before, err := os.ReadFile(c.databasePath())
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range [][]string{{"serve"}, {"dispatch"}, {"migrate"}, {"purge"}, {"backup", filepath.Join(t.TempDir(), "copy.db")}} {
		c.want(exitFailure, "it has schema version 4, and this program knows versions up to 3", verb...)
	}
	after, err := os.ReadFile(c.databasePath())
	if err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
	if info, err := os.Stat(c.databasePath() + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("the write-ahead log has %d bytes", info.Size())
	}
}

func TestPurgeFollowsTheRetention(t *testing.T) {
	c := newEnv(t, "NOTIFIER_RETENTION_SENT=720h")
	for _, text := range []string{"old", "recent"} {
		c.want(0, "pending", "message", "send", "--chat", "701", "--text", text, "--key", "k-"+text)
	}
	const day = "86400000"
	c.sql(
		"UPDATE outbox SET state = 'sent', ended_at = created_at - 31 * "+day+" WHERE id = 1",
		"UPDATE outbox SET state = 'sent', ended_at = created_at - 1 * "+day+" WHERE id = 2",
		"UPDATE notifier_keys SET created_at = created_at - 401 * "+day+" WHERE key = 'k-old'",
		"INSERT INTO notifier_links (token_hash, customer_id, created_at, expires_at) VALUES (x'01', 'c', 1, 2)",
	)
	const all = "the content of 1 messages; removed: 0 messages, 1 idempotency keys, 1 invitations"
	c.want(0, "Would erase "+all, "purge", "--dry-run")
	c.want(0, `{"erased":1,"removed":0,"keys":1,"invitations":1,"dryRun":true}`, "purge", "--dry-run", "--json")
	c.want(0, "Erased "+all, "purge")
	c.want(0, "the content of 0 messages; removed: 0 messages, 0 idempotency keys", "purge")
	c.want(0, "recent", "message", "show", "2")
	if out := c.want(0, "sent", "message", "show", "1"); strings.Contains(out, "old") {
		t.Errorf("after the purge message 1 is\n%s", out)
	}
}

// Field case ID-4: a key outlives a kill, many other keys, and a purge within its lifetime.
func TestID4KeysOutliveThePurge(t *testing.T) {
	c := newEnv(t)
	first := c.want(0, `"orderId":1`, "order", "place", "--number", "A-1", "--customer", "c-1", "--chat", "701", "--currency", "EUR", "--total", "1", "--key", "k", "--json")
	s := c.serve()
	c.delivered(1)
	for i := range 300 {
		s.post("/orders", order(fmt.Sprint("B-", i), int64(1000+i)))
	}
	s.end()
	const day = "86400000"
	c.sql("UPDATE notifier_keys SET created_at = created_at - 399 * "+day,
		"UPDATE outbox SET ended_at = ended_at - 399 * "+day+" WHERE ended_at IS NOT NULL")
	c.want(0, "Erased", "purge")
	if again := c.want(0, "", "order", "place", "--number", "A-1", "--customer", "c-1", "--chat", "701", "--currency", "EUR", "--total", "1", "--key", "k", "--json"); again != first {
		t.Errorf("after the purge\n%s, before it\n%s", again, first)
	}
	c.want(0, "OrderPlaced", "message", "list", "--order", "1")
	if out := c.want(0, "", "message", "list", "--order", "1", "--json"); strings.Count(out, `"messageId"`) != 1 {
		t.Errorf("the order has the messages %s", out)
	}
}

func TestHealthAsksTheRunningService(t *testing.T) {
	c := newEnv(t)
	c.want(exitFailure, "is it running?", "health")
	s := c.serve()
	s.ready("")
	c.want(0, "ok", "health", "--url", s.url)
	s.post("/sender/pause", "")
	s.ready("sender_paused")
	c.want(0, "sender_paused: nothing is being sent", "health", "--url", s.url)
	c.want(0, `"status":"degraded"`, "health", "--url", s.url, "--json")
	c.want(exitFailure, "not notifier", "health", "--url", c.boxURL)
}
