package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// takes says whether an order is committed.
func (v *service) takes(number string) bool {
	v.t.Helper()
	status, body, err := v.post("/orders", "", order(number, 701))
	if err != nil || status != http.StatusCreated && status != http.StatusServiceUnavailable {
		v.t.Fatalf("an order: %d %v, %v", status, body, err)
	}
	return status == http.StatusCreated
}

// awaitStatus waits until /readyz has a status.
func (v *service) awaitStatus(want string) {
	v.t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // only asking shows it
		_, body, err := v.get("/readyz")
		if err == nil && body["status"] == want {
			return
		}
		if time.Now().After(late) {
			v.t.Fatalf("/readyz says %v, %v, not %s\n%s", body, err, want, v.log)
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestP3ADatabaseThatIsGoneTakesNoOrders(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"shop.db", "shop.db-wal"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newProgramEnv(t)
			v := s.serve()
			path, aside := filepath.Join(s.dir, file), filepath.Join(s.dir, "aside")
			if !v.takes("A-1") {
				t.Fatal("the first order was not taken")
			}
			rename(t, path, aside)
			if v.takes("A-2") {
				t.Error("an order was taken without the file")
			}
			v.awaitStatus("down")
			v.awaitLog("removed or replaced")
			if err := os.WriteFile(path, nil, 0o600); err != nil { // somebody else's
				t.Fatal(err)
			}
			if v.takes("A-3") {
				t.Error("an order was taken with another file in its place")
			}
			rename(t, aside, path)
			v.awaitStatus("ok")
			if !v.takes("A-4") {
				t.Error("no order was taken with the file back")
			}
			if err := v.stop(); err != nil {
				t.Errorf("it ended with %v\n%s", err, v.log)
			}
			again := s.serve()
			if status, body, err := again.get("/orders"); err != nil || status != http.StatusOK || len(body["items"].([]any)) < 2 {
				t.Errorf("after a restart: %d %v, %v", status, body, err)
			}
		})
	}
}

func TestP5ALockFileThatIsALinkIsRefused(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	for name, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		target := filepath.Join(s.dir, "ledger")
		if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := link(target, s.database()+".lock"); err != nil {
			t.Fatal(err)
		}
		out, err := s.command("dispatch").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "shop.db.lock: it is a link") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if text, err := os.ReadFile(target); err != nil || string(text) != "precious" {
			t.Errorf("%s: the target holds %q, %v", name, text, err)
		}
		if err := os.Remove(s.database() + ".lock"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestP5WhatRootLeavesBelongsToTheDatabasesOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root: only root can make files for others")
	}
	const nobody = 65534
	s := newProgramEnv(t)
	for _, path := range []string{s.dir, s.database()} {
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	v := s.serve() // as root
	if !v.takes("A-1") {
		t.Fatal("an order was not taken")
	}
	if err := v.stop(); err != nil {
		t.Fatal(err)
	}
	if out, err := s.command("dispatch").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(s.database()); err != nil {
		t.Fatal(err)
	}
	if err := s.serve().stop(); err != nil { // it makes a new database
		t.Fatal(err)
	}
	files, err := filepath.Glob(s.database() + "*")
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != nobody {
			t.Errorf("%s belongs to %d", file, owner.Uid)
		}
	}
}

func TestP6NoVerbMakesADatabaseByTheWay(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	s.dir = t.TempDir() // the wrong folder
	for _, verb := range []string{"dispatch", "pause", "resume", "sender", "sender release", "purge", "backup copy.db", "order show 1",
		"order status 1 paid", "order place --customer c --currency EUR --total 1", "message list", "message send --chat 1 --text x",
		"message retry 1", "chat list", "chat show 1", "chat link c", "customer forget c", "doctor"} {
		out, err := s.command(strings.Fields(verb)...).CombinedOutput()
		if verb != "doctor" && (err == nil || !strings.Contains(string(out), "there is no database at "+s.database()) || !strings.Contains(string(out), "looked for")) {
			t.Errorf("%s: %v\n%s", verb, err, out)
		}
	}
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestP8BackupsDoNotHarmEachOtherOrAnybody(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	own := filepath.Join(s.dir, "copy.db.unfinished")
	if err := os.WriteFile(own, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(s.dir, ".notifier-draft-1") // what a backup that was killed has left
	for _, end := range []string{"", "-wal"} {
		if err := os.WriteFile(killed+end, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.command("message", "send", "--chat", "701", "--text", strings.Repeat("x", 4000)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var all sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		all.Go(func() {
			out, err := s.command("backup", "copy.db").CombinedOutput()
			if err != nil && !strings.Contains(string(out), "exists already") {
				t.Errorf("%v\n%s", err, out)
			}
			results <- err
		})
	}
	all.Wait()
	made := 0
	for range cap(results) {
		if <-results == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d backups were made under one name", made)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != "mine" {
		t.Errorf("the user's own file holds %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".notifier-draft-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	s.settings = append(s.settings, "DATABASE_URL=copy.db")
	if out, err := s.command("message", "list").CombinedOutput(); err != nil || !strings.Contains(string(out), "701") {
		t.Errorf("the copy: %v\n%s", err, out)
	}
}
