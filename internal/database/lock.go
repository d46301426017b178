package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockRetry is how often a standby asks whether the sender's lock is free. The kernel tells
// nobody when a lock is given up, and asking costs one system call.
const lockRetry = 250 * time.Millisecond

// Holder says who has the sender's lock.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// String is for people.
func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", h.PID, h.Host)
}

// HeldError says that another process has the sender's lock.
type HeldError struct{ Holder Holder }

// Error implements error.
func (e *HeldError) Error() string { return e.Holder.String() + " sends for this database" }

// SenderLock is the right to send for one database. It ends with Release or with the process,
// however that dies.
type SenderLock struct {
	file *os.File
	path string
}

// TryLock takes the sender's lock, or fails at once with a *HeldError.
//
// The lock is on a file of its own beside the database: a lock on the database file itself would
// be dropped when any descriptor of it is closed (https://www.sqlite.org/howtocorrupt.html, 2.2).
func (db *DB) TryLock() (*SenderLock, error) { return tryLock(db.path) }

func tryLock(path string) (*SenderLock, error) {
	f, err := openLock(path+".lock", os.O_RDWR|os.O_CREATE)
	if err == nil {
		err = giveTo(f, path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the sender's lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close() //nolint:errcheck // nothing was written
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &HeldError{readHolder(f)}
		}
		return nil, fmt.Errorf("take the sender's lock: %w", err)
	}
	if err := writeHolder(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("sign the sender's lock: %w", err)
	}
	return &SenderLock{f, path + ".lock"}, nil
}

// errLockLink says that the lock file is not a file of its own, so that writing to it would change
// another one.
var errLockLink = errors.New("it is a link, or no file: remove it")

// openLock opens the lock file. It is emptied and written to, so it must be no other file by a link.
func openLock(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600) //nolint:gosec // it lies beside the database
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s: %w", path, errLockLink)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || ok && s.Nlink > 1 {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, errLockLink), f.Close())
	}
	return f, nil
}

// Lock waits for the sender's lock until ctx ends. waiting, if not nil, is called whenever the
// one it waits for is another than before.
func (db *DB) Lock(ctx context.Context, waiting func(Holder)) (*SenderLock, error) {
	var last Holder
	for {
		l, err := db.TryLock()
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if held.Holder != last && waiting != nil {
			last = held.Holder
			waiting(last)
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errLockLost says that nobody else can see the lock any more.
var errLockLost = errors.New("the file of the sender's lock was removed or replaced")

// Held says, with an error, that the lock was lost: its file was removed or replaced, so another
// process may take it, too.
func (l *SenderLock) Held() error {
	ours, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("look at the sender's lock: %w", err)
	}
	there, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(ours, there) {
		return errLockLost
	}
	if err != nil {
		return fmt.Errorf("look at the sender's lock: %w", err)
	}
	return nil
}

// Release gives the lock up.
func (l *SenderLock) Release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

func writeHolder(f *os.File) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	b, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(b, '\n'), 0)
	return err
}

// readHolder tells as much as the holder wrote; it may be about to write.
func readHolder(f *os.File) Holder {
	var h Holder
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	return h
}
