package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// serveInto starts the service with its standard error going to a file, and without one who reads its
// banner for longer than it takes to learn the address.
func (s *programEnv) serveInto(stderr *os.File, args ...string) *service {
	s.t.Helper()
	c := s.command(append([]string{"serve"}, args...)...)
	c.Stderr = stderr
	return s.await(c, newRecord())
}

func TestP1TheServiceOutlivesWhoReadsItsLog(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_LOG_LEVEL=debug")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	v := s.serveInto(writer)
	_ = writer.Close()
	_ = reader.Close()
	for i := range 3 { // each pause and its end are lines of the log
		for _, verb := range []string{"pause", "resume"} {
			if out, err := s.command(verb).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if status, _, err := v.post("/orders", "", order(fmt.Sprintf("A-%d-%s", i, verb), 701)); err != nil || status != http.StatusCreated {
				t.Fatalf("an order: %d, %v", status, err)
			}
		}
	}
	s.waitDelivered(6)
	if n := v.metric("notifier_log_lines_dropped_total"); n == "0" || n == "" {
		t.Errorf("%q lines were dropped", n)
	}
	if err := v.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// A reader that does not read holds nobody up: the pipe is full.
func TestP1AReaderThatStopsReadingHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_LOG_LEVEL=debug")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()   //nolint:errcheck // a test
	fd := int(writer.Fd()) // asking for it again would make it wait again
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for { // until nothing more goes in
		if _, err := syscall.Write(fd, make([]byte, 4096)); err != nil {
			break
		}
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	v := s.serveInto(writer)
	_ = writer.Close()
	if status, _, err := v.post("/orders", "", order("A-1", 701)); err != nil || status != http.StatusCreated {
		t.Fatalf("an order: %d, %v", status, err)
	}
	s.waitDelivered(1)
	if err := v.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// metric is the value of a metric without labels.
func (v *service) metric(name string) string {
	v.t.Helper()
	response, err := http.Get(v.url + "/metrics")
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (s *programEnv) waitDelivered(n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if stats, ok := s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Delivered >= n }); !ok {
		s.t.Fatalf("%d of %d delivered", stats.Delivered, n)
	}
}

func TestP2ATerminalThatGoesAwayEndsItAsSIGTERMDoes(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	if err := s.sandbox.SetLimits(sandbox.Limits{Latency: time.Second}); err != nil {
		t.Fatal(err)
	}
	v := s.serve()
	if status, _, err := v.post("/orders", "", order("A-1", 701)); err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	for deadline := time.Now().Add(20 * time.Second); s.inTheAir() == 0; time.Sleep(10 * time.Millisecond) { // only asking shows it
		if time.Now().After(deadline) {
			t.Fatal("no message is under way")
		}
	}
	for range 3 { // the kernel, the shell and a session manager
		_ = v.process.Process.Signal(syscall.SIGHUP)
	}
	if err := <-v.ended; err != nil {
		t.Errorf("it ended with %v\n%s", err, v.log)
	}
	if n := s.sandbox.Stats().Delivered; n != 1 {
		t.Errorf("%d delivered", n)
	}
	if out, err := s.command("message", "show", "1", "--json").Output(); err != nil || !strings.Contains(string(out), `"state":"sent"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// unshared runs a command as root of a user namespace of its own; the test is left out where the
// kernel does not allow that.
func (s *programEnv) unshared(script string) *exec.Cmd {
	s.t.Helper()
	if out, err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").CombinedOutput(); err != nil {
		s.t.Skipf("needs user namespaces: %v %s", err, out)
	}
	c := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script) //nolint:gosec // our own script
	c.Dir, c.Env = s.dir, append(slices.Clone(s.settings), "PROGRAM="+s.program)
	return c
}

func TestP4ADatabaseFileMountedByItselfIsRefused(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	for _, verb := range []string{"serve", "dispatch", "pause"} {
		out, err := s.unshared(`mount --bind shop.db shop.db && exec "$PROGRAM" ` + verb).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is mounted by itself") || !strings.Contains(string(out), "mount its folder") {
			t.Errorf("%s: %v\n%s", verb, err, out)
		}
	}
	if out, err := s.unshared(`mount --bind . . && cd "$PWD" && exec "$PROGRAM" pause`).CombinedOutput(); err != nil {
		t.Errorf("with its folder: %v\n%s", err, out)
	}
}

func TestP7WithoutWatchesOfTheKernelEverythingWorks(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	const none = `echo 0 > /proc/sys/user/max_inotify_instances && exec "$PROGRAM" `
	if out, err := s.unshared(none + "message send --chat 700 --text hello").CombinedOutput(); err != nil {
		t.Errorf("a verb: %v\n%s", err, out)
	}
	c := s.unshared(none + "serve")
	log := newRecord()
	c.Stderr = log
	v := s.await(c, log)
	v.awaitLog("looked at every 100 ms instead")
	s.waitDelivered(1)
	began := time.Now()
	if out, err := s.command("message", "send", "--chat", "701", "--text", "hello").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.waitDelivered(2)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("another process's message went after %v", took)
	}
	if err := v.stop(); err != nil {
		t.Errorf("it ended with %v\n%s", err, v.log)
	}
}

// systemd is told that the service is ready, how its sender stands, that it lives, and that it ends.
func TestSystemdIsToldHowTheServiceIs(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(s.dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // a test
	s.settings = append(s.settings, "NOTIFY_SOCKET="+filepath.Join(s.dir, "notify"), "WATCHDOG_USEC=400000")
	v := s.serve()
	hear := func(want ...string) {
		t.Helper()
		for late := time.Now().Add(20 * time.Second); ; {
			_ = socket.SetReadDeadline(late)
			b := make([]byte, 4096)
			n, err := socket.Read(b)
			if err != nil {
				t.Fatalf("no %q: %v", want, err)
			}
			heard := 0
			for _, line := range want {
				if strings.Contains(string(b[:n]), line) {
					heard++
				}
			}
			if heard == len(want) {
				return
			}
		}
	}
	hear("READY=1", "WATCHDOG=1", "STATUS=the sender is running")
	hear("WATCHDOG=1")
	if out, err := s.command("pause").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hear("STATUS=paused")
	if err := v.stop(); err != nil {
		t.Error(err)
	}
	hear("STOPPING=1")
}
