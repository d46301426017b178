// Package database owns the SQLite file: how it is opened and created, the one way to write to it,
// reading, noticing what other processes committed, and the lock that lets one process send.
//
// It knows no table but its own version table. Whoever calls it brings the SQL: packages above write
// inside [DB.Write] and read inside [DB.Read], and see nothing of connections, pragmas or the
// driver, so that commits can later be grouped, and another store can take this one's place.
package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// busyTimeout is how long we wait for a write lock that another process holds before a Write
// fails with ErrBusy. It is longer than any well-behaved writer keeps its transaction open.
const busyTimeout = 10 * time.Second

// readers is how many connections read side by side.
const readers = 4

// ErrBusy is what a Write or Read ends with when another process kept the database locked.
var ErrBusy = errors.New("the database is locked by another process")

// errClosed says that the database was closed.
var errClosed = errors.New("the database is closed")

// DB is one open database. Its methods may be called from any goroutine.
type DB struct {
	path     string // absolute, symbolic links resolved
	writer   *connection
	turn     chan struct{}    // holds one token: whose turn it is to use writer
	readers  chan *connection // those that are free
	fairness fairness
	full     atomic.Pointer[fullness] // nil: it never was
	foreign  atomic.Int64             // commits by others, as far as noticed
	version  int64                    // data_version as the writer last saw it; guarded by turn
	watch    *watcher
	closing  sync.Once
	over     chan struct{} // closed once nothing is begun any more
	closed   error         // what Close came to
	files    files
	// watchFiles: false in tests with a virtual clock, which waiting for the kernel would stop.
	watchFiles bool
	// mayCreate: false where a database without our tables is refused.
	mayCreate bool
}

// Option changes how Open works.
type Option func(*DB)

// WithoutFileWatch leaves commits of other processes to be noticed at the next Write or
// ForeignCommits. It is for tests that run in a synctest bubble.
func WithoutFileWatch() Option { return func(db *DB) { db.watchFiles = false } }

// WithoutCreating refuses a database that does not exist or has none of our tables.
func WithoutCreating() Option { return func(db *DB) { db.mayCreate = false } }

// Open opens the database at path, taken literally, and creates it with schema when it does not
// exist or is empty. version is what schema creates; a database of another version is refused
// before anything is written to it.
func Open(ctx context.Context, path, schema string, version int, options ...Option) (*DB, error) {
	if scheme, _, found := strings.Cut(path, "://"); found {
		return nil, fmt.Errorf("open database: %q databases are not supported yet: give the path of a SQLite file", scheme)
	}
	resolved, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := &DB{path: resolved, turn: make(chan struct{}, 1), over: make(chan struct{}), watch: newWatcher(), watchFiles: true, mayCreate: true}
	for _, o := range options {
		o(db)
	}
	if err := db.findFile(); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if db.writer, err = connect(ctx, resolved); err != nil {
		return nil, fmt.Errorf("open database %s: %w", resolved, err)
	}
	db.turn <- struct{}{}
	if err := db.prepare(ctx, schema, version); err != nil {
		_ = db.writer.close()
		return nil, fmt.Errorf("open database %s: %w", resolved, err)
	}
	if err := db.start(); err != nil {
		_ = db.writer.close()
		return nil, fmt.Errorf("open database %s: %w", resolved, err)
	}
	return db, nil
}

// findFile sees to it that there is a file in which a database can be kept.
func (db *DB) findFile() error {
	if err := refuseLoneMount(db.path); err != nil {
		return err
	}
	if db.mayCreate {
		return createPrivate(db.path)
	}
	_, err := os.Stat(db.path)
	return err
}

// start opens the readers.
func (db *DB) start() error {
	var err error
	db.readers = make(chan *connection, readers)
	for range readers {
		c, err := connect(context.Background(), db.path, "query_only(1)")
		if err != nil {
			return errors.Join(err, db.closeReaders(len(db.readers)))
		}
		db.readers <- c
	}
	if db.version, err = db.writer.dataVersion(); err != nil {
		return err
	}
	db.files, err = openedFiles(db.path)
	return err
}

// Path is the absolute path of the database file, symbolic links resolved.
func (db *DB) Path() string { return db.path }

// Close waits for the write under way and closes all connections.
func (db *DB) Close() error {
	db.closing.Do(func() {
		close(db.over)
		db.watch.close()
		<-db.turn // never given back: nobody writes any more
		db.closed = errors.Join(db.closeReaders(readers), db.writer.close())
	})
	return db.closed
}

// closeReaders waits for n reads under way and closes their connections.
func (db *DB) closeReaders(n int) error {
	var err error
	for range n {
		err = errors.Join(err, (<-db.readers).close())
	}
	return err
}

// resolve makes path absolute and follows symbolic links, so that two names of one file share one
// lock. The file itself need not exist yet.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("the folder of %s: %w", abs, err)
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}
