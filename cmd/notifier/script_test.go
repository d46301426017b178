package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"notifier": main})
}

// TestScripts runs the program as people do, in a process of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// database FILE makes a database.
			"database": func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(createDatabase(ts.MkAbs(args[0]))) },
		},
		Setup: func(e *testscript.Env) error {
			// The race detector would sleep for a second at the end of each process
			// (https://go.dev/doc/articles/race_detector#Options).
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}
