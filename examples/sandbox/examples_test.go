// Package sandbox_test runs the examples of the sandbox's guide, so that what a
// reader copies works.
package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

const greeted = "greeted once, after the wait that was asked for"

func TestGoExample(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "example")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./go")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	bothWays(t, program)
}

func TestPythonExample(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "apt-get install python3")
	bothWays(t, "python3", "python/example.py")
}

func TestNodeExample(t *testing.T) {
	t.Parallel()
	needs(t, "node", "apt-get install nodejs, version 20 or later")
	bothWays(t, "node", "node/example.mjs")
}

// grammY and its auto-retry plugin, unmodified, are content with the sandbox.
func TestGrammY(t *testing.T) {
	t.Parallel()
	needs(t, "node", "apt-get install nodejs, version 20 or later")
	if _, err := os.Stat("grammy/node_modules/grammy"); err != nil {
		t.Skip("grammy is missing: npm ci in examples/sandbox/grammy")
	}
	run(t, "grammY is content", []string{"SANDBOX_URL=" + newSandbox(t)}, "node", "grammy/check.mjs")
}

// The faults that the guide shows are ones that the sandbox takes.
func TestFaultsOfTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	faults := regexp.MustCompile("`(\\{[^`]*\"respond\"[^`]*\\})`").FindAllSubmatch(guide, -1)
	if len(faults) < 10 {
		t.Fatalf("only %d faults were found", len(faults))
	}
	url := newSandbox(t)
	for _, fault := range faults {
		response, err := http.Post(url+"/sandbox/faults", "application/json", bytes.NewReader(fault[1]))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Errorf("%s: %s", fault[1], response.Status)
		}
	}
}

// bothWays runs an example with a sandbox that runs already, and lets it start
// one.
func bothWays(t *testing.T, command ...string) {
	t.Helper()
	t.Run("with a sandbox that runs", func(t *testing.T) {
		run(t, greeted, []string{"SANDBOX_URL=" + newSandbox(t)}, command...)
	})
	t.Run("with one of its own", func(t *testing.T) {
		path := "PATH=" + notifierVerb(t, newSandbox(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
		run(t, greeted, []string{"SANDBOX_URL=", path}, command...)
	})
}

// newSandbox serves a sandbox and returns its address.
func newSandbox(t *testing.T) string {
	t.Helper()
	s := sandbox.New(sandbox.Options{})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.Close() })
	return server.URL
}

// notifierVerb makes a folder with a program that looks like `notifier sandbox`
// from outside: its first line names an address, and it stays until it is ended.
func notifierVerb(t *testing.T, url string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a POSIX shell is missing")
	}
	folder := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
test "$*" = "sandbox --listen 127.0.0.1:0" || { echo "called with $*" >&2; exit 2; }
echo '{"url":"%s"}'
exec sleep 300
`, url)
	if err := os.WriteFile(filepath.Join(folder, "notifier"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

// needs skips a test when a program is missing.
func needs(t *testing.T, program, howToGet string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is missing: %s", program, howToGet)
	}
}

// run runs a program, which must say a line and succeed.
func run(t *testing.T, line string, environment []string, command ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, command[0], command[1:]...)
	program.Env = append(os.Environ(), environment...)
	output, err := program.CombinedOutput()
	if err != nil || !strings.Contains(string(output), line) {
		t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
}
