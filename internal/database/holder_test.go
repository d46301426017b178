package database

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSenderHolderOnlyLooks(t *testing.T) {
	db := fresh(t)
	want := func(state string, pid int) {
		t.Helper()
		h, err := db.SenderHolder()
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if h != nil {
			got = h.PID
		}
		if diff := cmp.Diff(pid, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
	want("before anybody has sent", 0)
	if _, err := os.Stat(db.Path() + ".lock"); err == nil {
		t.Error("it made a lock file")
	}
	lock, err := db.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	want("while this process has it", os.Getpid())
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	want("after it was given up", 0)
	// A holder that was killed leaves its name behind.
	if err := os.WriteFile(db.Path()+".lock", []byte(`{"pid":1,"host":"h"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want("after it was killed", 0)
	if lock, err = db.TryLock(); err != nil {
		t.Errorf("the probe kept the lock: %v", err)
	} else if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
