package database

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"notifier"
)

// migrateFile names, for a copy of this test program, the file that it should migrate.
const migrateFile = "NOTIFIER_TEST_MIGRATE"

func TestMain(m *testing.M) {
	path := os.Getenv(migrateFile)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := Migrate(context.Background(), path, notifier.SchemaVersion, notifier.Migration, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A migration that is killed at any moments, and begun again each time, gives what one gives that is
// left alone. With NOTIFIER_LONG=1 it has a million messages, and says how long it took.
func TestAKilledMigrationGoesOn(t *testing.T) {
	const kills = 20
	messages, between, oneOf := 4000, 60*time.Millisecond, 1
	if os.Getenv("NOTIFIER_LONG") != "" {
		messages, between, oneOf = 1_000_000, 3*time.Second, 50
	}
	path := oldFile(t, 2, fill(messages)...)
	before := copyFile(t, path)
	began, killed, busy := time.Now(), 0, time.Duration(0)
	asOf := begin(t, path)
	for done := false; !done; {
		var after time.Duration // 0: it is left alone
		if killed < kills {
			after = time.Duration(rand.Int64N(int64(between))) + 1
		}
		var cpu time.Duration
		if done, cpu = migrateAndKill(t, path, after); !done {
			killed++
		}
		busy += cpu
	}
	took := time.Since(began)
	size, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d messages (%d MB afterwards) took %v, %v of them on a processor, with %d kills",
		messages, size.Size()>>20, took.Round(10*time.Millisecond), busy.Round(10*time.Millisecond), killed)
	if killed == 0 {
		t.Error("it was never killed")
	}
	compare(t, before, path, asOf, oneOf)
	if diff := cmp.Diff(describe(t, fresh(t)), describe(t, open(t, path))); diff != "" {
		t.Errorf("fresh and lifted schemas differ:\n%s", diff)
	}
}

// migrateAndKill runs a migration in a process of its own, which it kills after a while, and says
// whether it had ended before, and how long it had a processor.
func migrateAndKill(t *testing.T, path string, after time.Duration) (ended bool, busy time.Duration) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program) //nolint:gosec // this test itself
	c.Env = append(os.Environ(), migrateFile+"="+path)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer timer.Stop()
	}
	err = c.Wait()
	if err != nil && (after == 0 || c.ProcessState.ExitCode() != -1) {
		t.Fatalf("the migration failed: %v", err)
	}
	return err == nil, c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}
