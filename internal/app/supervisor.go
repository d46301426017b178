package app

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"notifier/internal/outbox"
)

// Supervisor is who started the service and wants to know how it is: systemd, for a unit of
// Type=notify (https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html). The zero value
// is nobody.
type Supervisor struct {
	Socket   string        // NOTIFY_SOCKET: a path, or with a first @ an abstract name
	Watchdog time.Duration // WATCHDOG_USEC: how long it waits for a sign of life; 0: for ever
}

// NewSupervisor reads what systemd has put into the environment of process pid.
func NewSupervisor(environ []string, pid int) Supervisor {
	var s Supervisor
	meant := true
	for _, pair := range environ {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "NOTIFY_SOCKET":
			s.Socket = value
		case "WATCHDOG_USEC":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 {
				s.Watchdog = time.Duration(n) * time.Microsecond
			}
		case "WATCHDOG_PID":
			meant = value == "" || value == strconv.Itoa(pid)
		}
	}
	if !meant {
		s.Watchdog = 0
	}
	return s
}

// tell sends lines such as READY=1. That nobody hears them is no reason not to go on.
func (s Supervisor) tell(lines ...string) {
	if s.Socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.Socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close() //nolint:errcheck // as above
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.Write([]byte(strings.Join(lines, "\n")))
}

// statusEvery is how often the supervisor is told how the sender stands, without a watchdog.
const statusEvery = 10 * time.Second

// report tells the supervisor that the service is ready, how its sender stands, and that it lives,
// until ctx ends.
func (a *App) report(ctx context.Context, s Supervisor) {
	if s.Socket == "" {
		return
	}
	lines := []string{"READY=1"}
	every := statusEvery
	if s.Watchdog > 0 {
		every = min(every, s.Watchdog/2)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if s.Watchdog > 0 {
			lines = append(lines, "WATCHDOG=1")
		}
		s.tell(append(lines, "STATUS="+a.statusLine(ctx))...)
		lines = nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			s.tell("STOPPING=1", "STATUS=ending: what is under way is finished first")
			return
		}
	}
}

// statusLine is how the sender stands, in one line. A database that cannot be asked in time is no
// reason to stay silent: to be restarted would not help.
func (a *App) statusLine(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	line, err := a.senderLine(ctx)
	if err != nil {
		line = "the database cannot be asked: " + err.Error()
	}
	line, _, _ = strings.Cut(line, "\n")
	if line == outbox.SenderRunning {
		return "the sender is running"
	}
	return line
}
