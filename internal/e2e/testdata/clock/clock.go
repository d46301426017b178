//go:build clocktest

// This file is put into cmd/notifier, beside a changed package time, to build a program whose wall
// clock can be set while its monotonic clock goes on: see core_clock_test.go.

package main

import (
	"os"
	"strings"
	"time"
)

// init reads how far the wall clock is ahead, such as "345600s", and again every 50 ms.
func init() {
	path := os.Getenv("NOTIFIER_CLOCK_FILE")
	if path == "" {
		return
	}
	_ = os.Unsetenv("NOTIFIER_CLOCK_FILE") // the program refuses settings that it does not know
	look := func() {
		text, err := os.ReadFile(path)
		if err != nil {
			return
		}
		if ahead, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
			time.MoveWallClock(int64(ahead / time.Second))
		}
	}
	look()
	go func() {
		for {
			time.Sleep(50 * time.Millisecond)
			look()
		}
	}()
}
