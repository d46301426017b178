package main

import (
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
)

// newLog returns the log of a run: colored text on a terminal, and with `auto` plain text elsewhere
// too, since people read it there with journalctl or docker logs.
func newLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	return slog.New(newLogHandler(w, isTerminal(w), level, format))
}

func newLogHandler(w io.Writer, terminal bool, level slog.Level, format string) slog.Handler {
	if format == "json" {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	}
	if format == "auto" && terminal {
		return tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: os.Getenv("NO_COLOR") != ""})
	}
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// serviceLog is the log of a process that goes on when nobody reads what it says. A line that cannot
// be written at once is dropped and counted.
type serviceLog struct {
	*slog.Logger
	lines *lossyWriter
}

// newServiceLog begins such a log; close ends it.
func newServiceLog(w io.Writer, level slog.Level, format string) serviceLog {
	outliveReaders()
	lines := newLossyWriter(w)
	return serviceLog{slog.New(newLogHandler(lines, isTerminal(w), level, format)), lines}
}

func (l serviceLog) close() { l.lines.close() }

// dropped is how many lines were not written.
func (l serviceLog) dropped() int64 { return l.lines.dropped.Load() }

// outliveReaders keeps this process alive when nobody reads its output any more: Go otherwise ends a
// process that writes to a closed standard output or error (package os/signal, SIGPIPE).
func outliveReaders() { signal.Ignore(syscall.SIGPIPE) }

const (
	// linesKept is how many lines wait for a reader that is slow.
	linesKept = 1024
	// lastLines is how long the end of the process waits for its last lines to be read.
	lastLines = time.Second
)

// lossyWriter writes to another writer beside its caller, who never waits and hears of no error.
type lossyWriter struct {
	to      io.Writer
	waiting chan []byte
	dropped atomic.Int64
	ending  chan struct{}
	ended   chan struct{}
}

func newLossyWriter(to io.Writer) *lossyWriter {
	w := &lossyWriter{to: to, waiting: make(chan []byte, linesKept), ending: make(chan struct{}), ended: make(chan struct{})}
	go w.run()
	return w
}

// Write implements io.Writer.
func (w *lossyWriter) Write(line []byte) (int, error) {
	select {
	case w.waiting <- append([]byte(nil), line...):
	default:
		w.dropped.Add(1)
	}
	return len(line), nil
}

func (w *lossyWriter) run() {
	defer close(w.ended)
	for {
		select {
		case line := <-w.waiting:
			w.pass(line)
		case <-w.ending:
			for {
				select {
				case line := <-w.waiting:
					w.pass(line)
				default:
					return
				}
			}
		}
	}
}

func (w *lossyWriter) pass(line []byte) {
	if _, err := w.to.Write(line); err != nil {
		w.dropped.Add(1)
	}
}

// close waits for the last lines, but not for a reader that has stopped to read.
func (w *lossyWriter) close() {
	close(w.ending)
	select {
	case <-w.ended:
	case <-time.After(lastLines):
	}
}
