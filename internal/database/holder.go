package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// SenderHolder says who has the sender's lock, this process included; nil when nobody has. It only
// looks: it makes no lock file, and what it takes to find out is given back at once.
func (db *DB) SenderHolder() (*Holder, error) {
	f, err := openLock(db.path+".lock", os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the sender's lock: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written; it gives the probe's lock back too
	// Whoever gave the lock up has emptied the file. Not to probe it then leaves a process in peace
	// that is about to take it.
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		return nil, nil
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		h := readHolder(f)
		return &h, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the sender's lock: %w", err)
	}
	return nil, nil
}
