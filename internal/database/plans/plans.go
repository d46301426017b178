// Package plans is for tests alone. It collects the statements that a package's tests let the
// product execute, asks SQLite how it would carry out each of them on a fresh database without
// statistics, and fails the tests when one walks over a table that grows.
//
// A package takes part by opening its databases with [Log] and by this TestMain, which names the
// tables that it owns:
//
//	func TestMain(m *testing.M) { os.Exit(plans.Run(m, "notifier_orders")) }
package plans

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"notifier/internal/database"
)

// collected are the statements of this test binary, each once.
var collected = struct {
	sync.Mutex
	statements map[string]bool
}{statements: map[string]bool{}}

// Log opens a database so that its statements are collected.
func Log() database.Option { return database.WithStatementLog(note) }

func note(query string) {
	if askedByTest() {
		return
	}
	collected.Lock()
	defer collected.Unlock()
	collected.statements[query] = true
}

// askedByTest says whether a statement stands in a test: those are not the product's.
func askedByTest() bool {
	pc := make([]uintptr, 16)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "notifier/internal/database.") {
			return strings.HasSuffix(f.File, "_test.go")
		}
		if !more {
			return false
		}
	}
}

// Run runs the tests, then looks at the plans of what they executed, and returns the exit code. When all
// tests ran, each index of the tables that the package owns must have been of use to some statement.
func Run(m *testing.M, owns ...string) int {
	code := m.Run()
	collected.Lock()
	statements := make([]string, 0, len(collected.statements))
	for s := range collected.statements {
		statements = append(statements, s)
	}
	collected.Unlock()
	slices.Sort(statements)
	if len(statements) == 0 { // only listed, or a child process of a test
		return code
	}
	complaints, err := examine(statements, owns, code == 0 && allTests())
	if err != nil {
		complaints = append(complaints, err.Error())
	}
	for _, c := range complaints {
		fmt.Fprintln(os.Stderr, c)
		code = max(code, 1)
	}
	return code
}

func allTests() bool {
	for _, name := range []string{"test.run", "test.skip"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
