package main

import (
	"strings"
	"testing"
	"time"

	"notifier/internal/database"
)

func TestProgressOfAMigration(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{false, "  0 %: one\n 10 %, about 36s left: two\n 21 %, about 38s left: two\n100 %: done\n"},
		{true, "\r\x1b[K  0 %: one\r\x1b[K 10 %, about 36s left: two\r\x1b[K 11 %, about 40s left: two" +
			"\r\x1b[K 21 %, about 38s left: two\r\x1b[K100 %: done\r\x1b[K"},
	} {
		var out strings.Builder
		began := time.Unix(0, 0)
		m := newMigrationProgress(&out, began)
		m.terminal = c.terminal
		for second, p := range []database.Progress{
			{Step: "one", Done: 1}, {Step: "one", Done: 2}, {Step: "one", Done: 5}, {Step: "one", Done: 7},
			{Step: "two", Done: 101}, {Step: "two", Done: 111}, {Step: "two", Done: 115}, {}, {}, {}, {Step: "two", Done: 211}, {Step: "done", Done: 1000},
		} {
			if p.Total = 1000; p.Step != "" {
				m.show(p, began.Add(time.Duration(second)*time.Second))
			}
		}
		if out.String() != c.want {
			t.Errorf("terminal %v:\n%q, want\n%q", c.terminal, out.String(), c.want)
		}
	}
}
