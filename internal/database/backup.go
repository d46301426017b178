package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
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
		return fmt.Errorf("back up: %s exists already: choose a new name, or remove it first", target)
	}
	unfinished := target + ".unfinished"
	if err := db.copyTo(ctx, unfinished, mark); err != nil {
		removeDatabase(unfinished)
		return fmt.Errorf("back up to %s: %w", target, err)
	}
	if err := errors.Join(os.Link(unfinished, target), os.Remove(unfinished)); err != nil {
		removeDatabase(unfinished)
		return fmt.Errorf("back up to %s: %w", target, err)
	}
	return syncFile(filepath.Dir(target))
}

func (db *DB) copyTo(ctx context.Context, path string, mark func(Tx) error) error {
	removeDatabase(path) // of a backup that was cut off
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
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
