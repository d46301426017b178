package database

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watcher waits for other processes' commits as soon as somebody listens. It is told by the operating
// system that the database's files were written to, and asks SQLite whether that was somebody else.
type watcher struct {
	begun   sync.Once         // by the first who listens
	files   *fsnotify.Watcher // nil without file watching
	trouble error             // why the kernel does not tell
	stop    context.CancelFunc
	done    chan struct{}

	mu        sync.Mutex
	listeners map[chan struct{}]bool
}

func newWatcher() *watcher { return &watcher{listeners: map[chan struct{}]bool{}} }

// pollEvery is how often the database is looked at where the kernel tells nothing.
const pollEvery = 100 * time.Millisecond

// begin starts to watch the folder of db's file. Where the kernel has no watches left for this user
// (fs.inotify.max_user_instances in inotify(7)), the database is looked at again and again.
func (w *watcher) begin(db *DB) {
	ctx, stop := context.WithCancel(context.Background())
	w.stop, w.done = stop, make(chan struct{})
	files, err := watchFolder(filepath.Dir(db.path))
	if err != nil {
		w.trouble = err
		go w.poll(ctx, db)
		return
	}
	w.files = files
	go w.loop(ctx, db)
}

// watchFolder watches the folder, since SQLite may remove and create the write-ahead log.
func watchFolder(path string) (*fsnotify.Watcher, error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := files.Add(path); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return files, nil
}

func (w *watcher) close() {
	w.mu.Lock()
	w.begun.Do(func() {}) // nobody begins any more
	w.mu.Unlock()
	if w.stop == nil {
		return
	}
	w.stop()
	if w.files != nil {
		_ = w.files.Close()
	}
	<-w.done
}

// poll looks at the database without being told.
func (w *watcher) poll(ctx context.Context, db *DB) {
	defer close(w.done)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = db.ForeignCommits(ctx) // it tells who listens; an error is the next write's, too
		case <-ctx.Done():
			return
		}
	}
}

// looks are when the database is looked at after its files were written to. The write that the
// kernel tells of comes before the commit can be seen: in between lies a sync of the disk.
var looks = []time.Duration{10 * time.Millisecond, 40 * time.Millisecond, 200 * time.Millisecond}

func (w *watcher) loop(ctx context.Context, db *DB) {
	defer close(w.done)
	var next <-chan time.Time
	left := 0 // looks to come
	for {
		select {
		case e, ok := <-w.files.Events:
			if !ok {
				return
			}
			if e.Name != db.path+"-wal" && e.Name != db.path {
				continue
			}
			if left != len(looks) { // one look serves all writes until then
				left, next = len(looks), time.After(looks[0])
			}
		case _, ok := <-w.files.Errors: // such as an overflow: look ourselves
			if !ok {
				return
			}
			left, next = len(looks), time.After(looks[0])
		case <-next:
			before := db.foreign.Load()
			now, err := db.ForeignCommits(ctx)
			if left--; left == 0 || err == nil && now != before {
				left, next = 0, nil
				continue
			}
			next = time.After(looks[len(looks)-left])
		}
	}
}

func (w *watcher) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.listeners {
		select {
		case l <- struct{}{}:
		default: // it has been told, and has not looked yet
		}
	}
}

// WatchTrouble is why commits of other processes are looked for instead of being told of by the
// kernel, or nil. It is known once somebody watches.
func (db *DB) WatchTrouble() error {
	db.watch.mu.Lock()
	defer db.watch.mu.Unlock()
	return db.watch.trouble
}

// Watch returns a channel that receives after commits by other processes, several of which may be
// told as one. stop ends it.
func (db *DB) Watch() (changed <-chan struct{}, stop func()) {
	l := make(chan struct{}, 1)
	db.watch.mu.Lock()
	defer db.watch.mu.Unlock()
	if db.watchFiles {
		db.watch.begun.Do(func() { db.watch.begin(db) })
	}
	db.watch.listeners[l] = true
	return l, func() {
		db.watch.mu.Lock()
		defer db.watch.mu.Unlock()
		delete(db.watch.listeners, l)
	}
}

// ForeignCommits looks whether other processes have committed and returns a number that changes
// whenever they have. It reads SQLite's own counter and no table.
func (db *DB) ForeignCommits(ctx context.Context) (int64, error) {
	if err := db.take(ctx); err != nil {
		return 0, err
	}
	defer db.release()
	err := db.noticeForeign()
	return db.foreign.Load(), err
}

// noticeForeign compares SQLite's counter with the last one seen. Only its own connection's
// commits leave that counter alone, so the writer must ask. The caller has the turn.
func (db *DB) noticeForeign() error {
	if err := db.files.check(); err != nil {
		return err
	}
	v, err := db.writer.dataVersion()
	if err != nil {
		return err
	}
	if v != db.version {
		db.version = v
		db.foreign.Add(1)
		db.watch.tell()
	}
	return nil
}
