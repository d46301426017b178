package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

const insertMany = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=5)
for i in range(int(sys.argv[2])):
    with db:
        db.execute("""INSERT INTO outbox (idempotency_key, recipient, type, payload) VALUES (?, ?, 'Text', ?)
            ON CONFLICT (idempotency_key) DO NOTHING""", (f"py-{i}", str(5000 + i), json.dumps({"text": f"from python {i}"})))
`

func TestAPythonProgramInsertsBesideFiftyClients(t *testing.T) {
	t.Parallel()
	const rows, clients = 200, 50
	s := newProgramEnv(t, "NOTIFIER_RATE_BOT=500")
	if err := s.sandbox.SetLimits(sandbox.Limits{}); err != nil {
		t.Fatal(err)
	}
	v := s.serve()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var all sync.WaitGroup
	var placed atomic.Int64
	for client := range clients {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				// Without a chat: the orders of this test only have to be stored.
				body := fmt.Sprintf(`{"customer":{"id":"c-%d"},"currency":"EUR","totalCents":1,"number":"%d-%d"}`, client, client, i)
				status, answer, err := v.post("/orders", "", body)
				if err != nil || status != 201 {
					t.Errorf("an order: %d %v %v", status, answer, err)
					return
				}
				placed.Add(1)
			}
		})
	}
	out, err := python(t, "-c", insertMany, s.database(), fmt.Sprint(rows))
	if err != nil {
		t.Errorf("the Python program: %v\n%s", err, out)
	}
	cancel()
	all.Wait()
	ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if stats, ok := s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Delivered >= rows }); !ok {
		t.Errorf("%d of %d rows were sent", stats.Delivered, rows)
	}
	t.Logf("%d orders beside %d rows", placed.Load(), rows)
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}

// The examples of the README, as they are: their row is noticed at once and sent.
func TestTheExamplesOfTheSQLDoor(t *testing.T) {
	t.Parallel()
	for _, language := range []struct {
		name, script string
		run          func(t *testing.T, args ...string) (string, error)
	}{{"Python", "insert.py", python}, {"PHP", "insert.php", php}} {
		t.Run(language.name, func(t *testing.T) {
			t.Parallel()
			s := newProgramEnv(t)
			v := s.serve()
			example, err := filepath.Abs("../../examples/" + language.script)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{"queued\n", "already queued before\n"} {
				out, err := language.run(t, example, s.database(), "7900000001", "Welcome, Anna <3!")
				if err != nil || out != want {
					t.Fatalf("run %d printed %q, %v", i+1, out, err)
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			sent := s.sandbox.WaitMessages(ctx, 7900000001)
			if len(sent) != 1 || sent[0].VisibleText != "Welcome, Anna <3!" {
				t.Errorf("delivered: %+v", sent)
			}
			if err := v.stop(); err != nil {
				t.Errorf("the service ended with %v\n%s", err, v.log)
			}
		})
	}
}

// php runs a script, or skips the test where PHP or its driver is missing.
func php(t *testing.T, args ...string) (string, error) {
	t.Helper()
	if out, err := exec.Command("php", "-m").Output(); err != nil || !strings.Contains(string(out), "pdo_sqlite") {
		t.Skip("needs php with pdo_sqlite (Debian: php-cli, php-sqlite3)")
	}
	out, err := exec.Command("php", args...).CombinedOutput() //nolint:gosec // our own script
	return string(out), err
}

// SQLite 3.31 of January 2020 is the oldest that the schema promises to work with. Its sources come
// with an old driver for Go, in a module of its own.
func TestTheOldestSQLiteReadsAndWritesBesideTheService(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs a C compiler")
	}
	program := filepath.Join(t.TempDir(), "oldsqlite")
	c := exec.Command("go", "build", "-tags", "json1", "-o", program, ".") //nolint:gosec // our own program
	c.Dir, c.Env = "testdata/oldsqlite", append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O0 -w", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("needs github.com/mattn/go-sqlite3 v2.0.3 and a C library to build it with: %v\n%s", err, out)
	}
	s := newProgramEnv(t)
	v := s.serve()
	out, err := exec.Command(program, s.database()).CombinedOutput() //nolint:gosec // our own program
	if err != nil || !strings.HasPrefix(string(out), "3.31.") || !strings.Contains(string(out), " ok ") {
		t.Fatalf("it says %s, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if sent := s.sandbox.WaitMessages(ctx, 7900000001); len(sent) != 1 || sent[0].VisibleText != "Greetings from 2020" {
		t.Errorf("delivered: %+v", sent)
	}
	if out, err := exec.Command(program, s.database()).CombinedOutput(); err != nil || !strings.Contains(string(out), " ok sent") { //nolint:gosec // our own program
		t.Errorf("afterwards it says %s, %v", out, err)
	}
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}
