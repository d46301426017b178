package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Backup writes one consistent copy of the database to a new file while others go on writing.
// mark runs in a transaction of the copy before it gets its name, so that a copy can be told
// from what it was made of. An existing file is refused.
func (db *DB) Backup(ctx context.Context, path string, mark func(Tx) error) error {
	target, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("back up: %w", existsError(target))
	}
	draft, err := newDraft(target)
	if err != nil {
		return fmt.Errorf("back up to %s: %w", target, err)
	}
	defer draft.remove()
	if err := db.copyTo(ctx, draft.Name(), mark); err != nil {
		return fmt.Errorf("back up to %s: %w", target, err)
	}
	err = os.Link(draft.Name(), target) // it fails where somebody else has made one meanwhile
	if errors.Is(err, fs.ErrExist) {
		err = existsError(target)
	}
	if err != nil {
		return fmt.Errorf("back up to %s: %w", target, err)
	}
	return syncFile(filepath.Dir(target))
}

func existsError(path string) error {
	return fmt.Errorf("%s exists already: choose a new name, or remove it first", path)
}

// draft is a backup that is being written. Its lock tells it from one whose process was killed.
type draft struct{ *os.File }

// draftMark stands in the names of drafts, so that no file of anybody else is taken for one.
const draftMark = ".notifier-draft-"

// newDraft makes a draft with a name of its own beside target, and removes those that a kill has left
// there.
func newDraft(target string) (draft, error) {
	dir := filepath.Dir(target)
	left, err := filepath.Glob(escapeGlob(dir) + "/" + draftMark + "*")
	if err != nil {
		return draft{}, err
	}
	for _, path := range left {
		if !strings.Contains(strings.TrimPrefix(filepath.Base(path), draftMark), "-") { // else SQLite's, beside one
			removeLeft(path)
		}
	}
	for {
		d, err := tryDraft(dir)
		if !errors.Is(err, errDraftTaken) {
			return d, err
		}
	}
}

// errDraftTaken: between its making and its lock, another backup took a draft for one that was left.
var errDraftTaken = errors.New("another backup has removed the draft")

func tryDraft(dir string) (draft, error) {
	f, err := os.CreateTemp(dir, draftMark+"*") // mode 0600
	if err != nil {
		return draft{}, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = os.Lstat(f.Name())
	}
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		err = errDraftTaken
	}
	if err != nil {
		draft{f}.remove()
		return draft{}, err
	}
	return draft{f}, nil
}

// escapeGlob lets Glob take a folder literally.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// removeLeft removes a draft that no process holds any more.
func removeLeft(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		removeDatabase(path)
	}
}

// remove removes the draft's name. Closing it drops SQLite's locks on the file, too, so it comes after
// all else.
func (d draft) remove() {
	removeDatabase(d.Name())
	_ = d.Close()
}

// copyTo writes a copy into a file that is there and empty.
func (db *DB) copyTo(ctx context.Context, path string, mark func(Tx) error) error {
	source, err := connect(db.path)
	if err != nil {
		return err
	}
	defer source.close() //nolint:errcheck // it has only read
	// VACUUM INTO reads one state of the database and accepts a file that is empty
	// (https://www.sqlite.org/lang_vacuum.html#vacuuminto).
	if err := source.script(ctx, "VACUUM INTO ?", path); err != nil {
		return explain(err)
	}
	copied, err := connect(path)
	if err != nil {
		return err
	}
	err = copied.exec("BEGIN IMMEDIATE")
	if err == nil {
		tx := &writeTx{c: copied}
		if err = mark(tx); err == nil {
			err = tx.finish()
		}
	}
	if err == nil {
		err = copied.exec("COMMIT")
	}
	if err := errors.Join(err, copied.close()); err != nil {
		return err
	}
	return syncFile(path)
}

func removeDatabase(path string) {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(path + end)
	}
}

// syncFile puts a file's content, or a folder's names, on disk.
func syncFile(path string) error {
	f, err := os.Open(path) //nolint:gosec // the path is the caller's
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Place says which machine this is (empty where it has no machine id) and which file the database
// is there. A copy has another place than what it was copied from.
func (db *DB) Place() (machine string, inode int64, err error) {
	info, err := os.Stat(db.path)
	if err != nil {
		return "", 0, fmt.Errorf("look at the database file: %w", err)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = int64(s.Ino) //nolint:gosec // only compared for equality
	}
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if id, err := os.ReadFile(path); err == nil && len(id) > 0 {
			return string(id[:min(32, len(id))]), inode, nil
		}
	}
	return "", inode, nil
}
