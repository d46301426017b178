package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// fullFor is how long a full disk counts as one after a write that failed: a smaller one may still
// find room beside it.
const fullFor = 10 * time.Second

// Full says whether writes of this process fail because the disk is full.
func (db *DB) Full() bool {
	failed := db.full.Load()
	return failed != nil && (!failed.over.Load() || time.Since(failed.at) < fullFor)
}

// fullness is a write that failed for want of room.
type fullness struct {
	at   time.Time
	over atomic.Bool // a later one did not
}

// noteFull keeps Full up to date after a write. Only a success, or a failure for want of room, says
// something.
func (db *DB) noteFull(err error) {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL {
		db.full.Store(&fullness{at: time.Now()})
	} else if failed := db.full.Load(); err == nil && failed != nil {
		failed.over.Store(true)
	}
}

// FreeSpace is how many bytes the file system that holds path has left for us.
func FreeSpace(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return 0, fmt.Errorf("ask for free space: %w", err)
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a block size is positive
}

// giveBackPages is how many free pages go back to the file system in one write.
const giveBackPages = 64

// GiveBack returns free pages of the file to the file system, a few at a time so that writers
// need not wait and little room is needed for it. It does nothing for a file that was made without
// incremental vacuum. What was done remains when ctx ends it, or the disk is full.
func (db *DB) GiveBack(ctx context.Context) error {
	for before := -1; ; {
		free, began := 0, time.Now()
		err := db.Write(ctx, func(tx Tx) error {
			rows, err := tx.Query(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, giveBackPages))
			if err != nil {
				return err
			}
			for rows.Next() { // each step frees a page
			}
			if err := rows.Close(); err != nil {
				return err
			}
			return tx.QueryRow(`PRAGMA freelist_count`).Scan(&free)
		})
		if err != nil {
			return fmt.Errorf("give space back: %w", err)
		}
		if free < giveBackPages || free == before { // nothing more, or a file that gives nothing back
			return db.TrimLog(ctx)
		}
		before = free
		if err := leaveRoom(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// logLimit is how large the write-ahead log may stay. While a program keeps one transaction open to
// read, nobody can shorten it; afterwards SQLite writes it anew from its beginning, and keeps the
// file as large as it was unless it is told otherwise
// (https://www.sqlite.org/pragma.html#pragma_journal_size_limit).
const logLimit = 16 << 20

// logSize is the size of the write-ahead log in bytes.
func (db *DB) logSize() int64 {
	info, err := os.Stat(db.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// LogTooLarge says whether TrimLog is worth while.
func (db *DB) LogTooLarge() bool { return db.logSize() > logLimit }

// TrimLog moves what is in the write-ahead log to the database file, and cuts the log off. It waits
// for nobody: while somebody writes, or reads an old state, it does as much as it can.
func (db *DB) TrimLog(ctx context.Context) error {
	// Its connection is its own and does not wait for locks: a checkpoint that truncates would
	// otherwise keep everybody waiting for a slow reader.
	pool, err := sql.Open("sqlite", dsn(db.path))
	if err != nil {
		return fmt.Errorf("trim the write-ahead log: %w", err)
	}
	defer pool.Close() //nolint:errcheck // what matters is on disk
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("trim the write-ahead log: %w", explain(err))
	}
	defer conn.Close() //nolint:errcheck // as above
	if _, err := conn.ExecContext(context.Background(), "PRAGMA busy_timeout = 0"); err != nil {
		return fmt.Errorf("trim the write-ahead log: %w", explain(err))
	}
	// First the bulk, beside writers; then only what came meanwhile, for which they must wait.
	for _, mode := range []string{"PASSIVE", "TRUNCATE"} {
		var busy, frames, moved int
		err := conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &moved)
		if err != nil {
			return fmt.Errorf("trim the write-ahead log: %w", explain(err))
		}
	}
	return nil
}
