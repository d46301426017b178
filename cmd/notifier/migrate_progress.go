package main

import (
	"fmt"
	"io"
	"time"

	"notifier/internal/database"
)

// migrationProgress tells how far a migration is: on a terminal in one line that is written anew,
// elsewhere in a line for each tenth of the way.
type migrationProgress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	first    int64 // what was done before this run
	told     int64 // the last percentage, or -1
}

func newMigrationProgress(out io.Writer, now time.Time) *migrationProgress {
	return &migrationProgress{out: out, terminal: isTerminal(out), began: now, first: -1, told: -1}
}

// show prints what p says as of now, if that is news.
func (m *migrationProgress) show(p database.Progress, now time.Time) {
	if m.first < 0 {
		m.first = p.Done
	}
	percent := p.Done * 100 / max(p.Total, 1)
	if percent == m.told || !m.terminal && percent/10 == m.told/10 && m.told >= 0 {
		return
	}
	m.told = percent
	line := fmt.Sprintf("%3d %%%s: %s", percent, m.left(p, now), p.Step)
	if !m.terminal {
		fmt.Fprintln(m.out, line)
		return
	}
	fmt.Fprintf(m.out, "\r\x1b[K%s", line) // to the first column, and what stood there is gone
	if p.Done == p.Total {
		fmt.Fprint(m.out, "\r\x1b[K")
	}
}

// left is how long it may still take, judged by this run; nothing before there is something to judge by.
func (m *migrationProgress) left(p database.Progress, now time.Time) string {
	took, done := now.Sub(m.began), p.Done-m.first
	if took < time.Second || done <= 0 || p.Done == p.Total {
		return ""
	}
	left := time.Duration(float64(took) * float64(p.Total-p.Done) / float64(done))
	return fmt.Sprintf(", about %v left", max(left, time.Second).Round(time.Second))
}
