package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tightPurge copies the database to a disk of its own with so much room beside it, purges it there,
// and says what became of it. The disk is in memory and ends with the script.
const tightPurge = `
set -e
mount -t tmpfs -o size="$2" tmpfs "$1"
cp shop.db "$1/shop.db"
cd "$1"
set +e
"$3" purge
echo "exit $?"
python3 -c '
import sqlite3
db = sqlite3.connect("shop.db")
print("integrity", db.execute("PRAGMA integrity_check").fetchone()[0])
print("rows", db.execute("SELECT count(*) FROM outbox WHERE state = \"pending\"").fetchone()[0])
'
echo "size $(stat -c %s shop.db)"
`

// Space is given back in place, a little at a time, so it needs far less room than the database has;
// and where there is hardly any, the purge says so and leaves the database whole.
func TestSQ6SpaceComesBackOnATightDisk(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"unshare", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	if out, err := exec.Command("unshare", "-rm", "true").CombinedOutput(); err != nil {
		t.Skipf("needs to mount a disk of its own, which this system does not allow: %v %s", err, out)
	}
	s := newProgramEnv(t, "NOTIFIER_RETENTION_KEYS=720h")
	s.must("message", "send", "--chat", "7", "--text", "it waits, and stays")
	db := s.foreign()
	s.oldRows(db, 10_000, 1500)
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.database())
	if err != nil {
		t.Fatal(err)
	}
	before := info.Size()
	for name, c := range map[string]struct {
		room int64 // beside the database
		ends string
	}{
		"room for half of it":  {before / 2, "exit 0"},
		"hardly any room left": {128 << 10, "exit 1"},
	} {
		t.Run(name, func(t *testing.T) {
			disk := filepath.Join(t.TempDir(), "disk")
			if err := os.Mkdir(disk, 0o700); err != nil {
				t.Fatal(err)
			}
			script := exec.Command("unshare", "-rm", "sh", "-c", tightPurge, "sh", disk, fmt.Sprint(before+c.room), s.program) //nolint:gosec // our own
			script.Dir, script.Env = s.dir, s.settings
			out, err := script.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{c.ends, "integrity ok", "rows 1"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if c.ends == "exit 1" && !strings.Contains(string(out), "full") {
				t.Errorf("it does not say that the disk is full:\n%s", out)
			}
			var after int64
			if _, tail, found := strings.Cut(string(out), "size "); found {
				_, _ = fmt.Sscan(tail, &after)
			}
			if c.ends == "exit 0" && (after == 0 || after > before/2) {
				t.Errorf("%d bytes before, %d after", before, after)
			}
		})
	}
}
