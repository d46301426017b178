package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// smallDisk mounts a disk in memory that is there until the script's input ends.
const smallDisk = `
set -e
mount -t tmpfs -o size=4m tmpfs "$1"
echo mounted
exec cat
`

// onSmallDisk lets the program of c run on a small disk of its own, and returns where that is to be
// found from outside.
func (c *coreEnv) onSmallDisk() (inside string) {
	c.t.Helper()
	if out, err := exec.Command("unshare", "-rm", "true").CombinedOutput(); err != nil {
		c.t.Skipf("needs to mount a disk of its own, which this system does not allow: %v %s", err, out)
	}
	disk := filepath.Join(c.dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		c.t.Fatal(err)
	}
	holder := exec.Command("unshare", "-rm", "sh", "-c", smallDisk, "sh", disk) //nolint:gosec // our own script
	in, err := holder.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = in.Close()
		_ = holder.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "mounted\n" {
		c.t.Fatalf("mount a small disk: %q, %v", line, err)
	}
	pid := holder.Process.Pid
	enter := fmt.Sprintf("#!/bin/sh\nexec nsenter -t %d -U -m --preserve-credentials sh -c 'cd \"$0\" && exec \"$@\"' '%s' '%s' \"$@\"\n", pid, disk, c.program)
	wrapper := filepath.Join(c.dir, "on-small-disk")
	if err := os.WriteFile(wrapper, []byte(enter), 0o700); err != nil { //nolint:gosec // it is to be run
		c.t.Fatal(err)
	}
	c.program = wrapper
	return fmt.Sprintf("/proc/%d/root%s", pid, disk)
}

// An acceptance that cannot be stored because the disk is full is not lost without a word: the service
// says what is wrong, and at most one copy follows, which is known as one.
func TestH22AFullDiskAtTheEnd(t *testing.T) {
	t.Parallel()
	c := newCoreEnv(t, "NOTIFIER_SEND_TIMEOUT=5s", "NOTIFIER_SHUTDOWN_TIMEOUT=8s")
	inside := c.onSmallDisk()
	v := c.serve()
	c.fault(7, 1, sandbox.Respond{Delay: 3 * time.Second})
	id := c.say(v, 7, "known to be there")
	c.waitOpen(1)
	filler := filepath.Join(inside, "filler")
	fill(t, filler)
	began := time.Now()
	err := v.stop()
	last := lastLine(v.log.String())
	t.Logf("after %v it ended with %v; its last words: %s", time.Since(began), err, last)
	if strings.Contains(last, "did not end") || !strings.Contains(last, "full") {
		t.Errorf("its last words are %q, in\n%s", last, v.log)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	v = c.serve()
	c.becomesOr(75*time.Second, "the message ended", func() bool { return c.state(v, id) == "sent" || c.state(v, id) == "uncertain" })
	m := c.message(v, id)
	n := c.delivered(7, "known to be there")
	t.Logf("delivered %d times: %v", n, m["attempts"])
	if n > 2 || n == 2 && !strings.Contains(fmt.Sprint(m["attempts"]), "uncertain") {
		t.Errorf("delivered %d times: %v", n, m["attempts"])
	}
	c.end(v)
}

// fill takes all that is left of a disk.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path) //nolint:gosec // in a folder of the test
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is full in any case
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
