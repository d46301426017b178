package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errFileGone says that what is committed from now on would be in files that nobody finds again.
var errFileGone = errors.New("the database file was removed or replaced while it is in use: put it back, or restart the service")

// files are the database file and its write-ahead log, as they were when they were opened. SQLite
// goes on working in files whose names are gone, without a word.
type files struct {
	path      string
	main, wal os.FileInfo
}

// openedFiles looks at the files of a database that is open.
func openedFiles(path string) (files, error) {
	f := files{path: path}
	var errMain, errLog error
	f.main, errMain = os.Stat(path)
	f.wal, errLog = os.Stat(path + "-wal")
	if err := errors.Join(errMain, errLog); err != nil {
		return f, fmt.Errorf("look at the database's files: %w", err)
	}
	return f, nil
}

// check says, with an error, that the files are not those that were opened.
func (f files) check() error {
	for _, opened := range []struct {
		path string
		info os.FileInfo
	}{{f.path, f.main}, {f.path + "-wal", f.wal}} {
		if opened.info == nil {
			continue
		}
		there, err := os.Stat(opened.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(there, opened.info) {
			return errFileGone
		}
		if err != nil {
			return fmt.Errorf("look at the database file: %w", err)
		}
	}
	return nil
}

// createPrivate creates a missing file readable and writable by its owner alone: it will hold
// customers' names and chats. SQLite gives -wal and -shm the same mode. When root makes it in
// somebody's folder, it is for them.
func createPrivate(path string) error {
	_, errBefore := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if errors.Is(errBefore, fs.ErrNotExist) {
		err = giveTo(f, filepath.Dir(path))
	}
	return errors.Join(err, f.Close())
}

// giveTo gives a file that root has made to the owner of another one: what root leaves behind must
// not shut the service out, which runs as somebody else.
func giveTo(f *os.File, owner string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(owner)
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return f.Chown(int(s.Uid), int(s.Gid))
}

// mountTable lists what is mounted where (proc(5), mountinfo).
const mountTable = "/proc/self/mountinfo"

// refuseLoneMount refuses a database file that is mounted by itself, as a container can be given it
// without its folder. SQLite's write-ahead log would lie beside it, in a folder that goes when the
// container does, and with it every order since the last checkpoint.
func refuseLoneMount(path string) error {
	table, err := os.ReadFile(mountTable)
	if err != nil {
		return nil //nolint:nilerr // a system without such a table has no such mounts
	}
	if mounted(string(table), path) {
		return fmt.Errorf("%s is mounted by itself, so its write-ahead log would lie outside: mount its folder instead", path)
	}
	return nil
}

// mounted says whether the table names path as a mount point: its fifth field, with blanks escaped.
func mounted(table, path string) bool {
	escaped := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(path)
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == escaped {
			return true
		}
	}
	return false
}

// NetworkFileSystem is the name of the network file system that holds path, or nothing when it is a
// local one. On a network file system SQLite's write-ahead log and its locks do not work between
// machines (https://www.sqlite.org/wal.html, https://www.sqlite.org/faq.html#q5).
func NetworkFileSystem(path string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return "", fmt.Errorf("ask for the file system: %w", err)
	}
	switch uint32(s.Type) { //nolint:gosec // the kernel's numbers have 32 bits
	case unix.NFS_SUPER_MAGIC:
		return "NFS", nil
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB", nil
	case unix.V9FS_MAGIC:
		return "9p", nil
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph", nil
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS", nil
	}
	return "", nil
}
