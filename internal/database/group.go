package database

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A commit costs a sync of the disk, which takes longer than most transactions. So writes that wait
// at the same time share one transaction: each runs in a savepoint of its own, as if it were alone,
// and one commit puts all of them on disk.

// groupTime is how long a transaction takes in further writes before it commits.
const groupTime = 5 * time.Millisecond

// savepoint is the name of the savepoint that a write runs in; there is never more than one.
const savepoint = "one_write"

// writes are the writes that wait for their turn, in the order in which they came.
type writes struct {
	mu   sync.Mutex
	list []*write
}

// write is one call of Write.
type write struct {
	fn       func(Tx) error
	done     chan struct{} // closed when err is known
	err      error
	panicked any // what fn panicked with
}

func (w *writes) add(one *write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, one)
}

// remove takes back a write that has not been begun, and says whether it could.
func (w *writes) remove(one *write) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.list, one)
	if i < 0 {
		return false
	}
	w.list = slices.Delete(w.list, i, i+1)
	return true
}

// next is the write that has waited longest; nil when none waits. more says whether others wait.
func (w *writes) next() (one *write, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) == 0 {
		return nil, false
	}
	one = w.list[0]
	w.list = slices.Delete(w.list, 0, 1)
	return one, len(w.list) > 0
}

// Write runs fn in a transaction that can write, and commits it. When fn fails, nothing of it
// remains and its error is returned as it is. When Write returns nil, the commit is on disk.
//
// Writes run one after another, on one goroutine at a time; which one is not said. ctx ends only the
// waiting for one's turn: once fn runs, it and its commit are carried through. fn must not keep its
// Tx, must not call Write, and must not change memory that is not its own: it may run inside a
// savepoint of a transaction that fails afterwards. A panic of fn undoes its write alone and goes on
// in the caller of Write.
func (db *DB) Write(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil { // a select would choose at random
		return fmt.Errorf("wait for a turn to write: %w", err)
	}
	one := &write{fn: fn, done: make(chan struct{})}
	db.writes.add(one)
	select {
	case <-one.done:
	case <-db.turn:
		db.fairness.pause()
		db.writeGroup()
		db.release()
		<-one.done
	case <-db.over:
		if db.writes.remove(one) {
			return fmt.Errorf("write: %w", errClosed)
		}
		<-one.done
	case <-ctx.Done():
		if db.writes.remove(one) {
			return fmt.Errorf("wait for a turn to write: %w", ctx.Err())
		}
		<-one.done
	}
	if one.panicked != nil {
		panic(one.panicked)
	}
	return one.err
}

// writeGroup runs the writes that wait in one transaction, and tells their callers. The caller has
// the turn. Its own write has come before, or has been dealt with by whoever had the turn before.
func (db *DB) writeGroup() {
	first, more := db.writes.next()
	if first == nil {
		return
	}
	group := []*write{first}
	began := time.Now()
	err := db.writer.exec("BEGIN IMMEDIATE")
	if err == nil {
		group, err = db.runGroup(group, more, began)
		db.fairness.held(began, time.Now())
	} else {
		err = fmt.Errorf("begin: %w", err)
	}
	db.noteFull(err)
	for _, one := range group {
		if err != nil && one.err == nil && one.panicked == nil {
			one.err = err
		}
		close(one.done)
	}
}

// runGroup is the part of a group between BEGIN and its end. Its error concerns all of them.
func (db *DB) runGroup(group []*write, more bool, began time.Time) ([]*write, error) {
	if err := db.noticeForeign(); err != nil {
		_ = db.writer.exec("ROLLBACK")
		return group, err
	}
	alone := !more
	for i := 0; ; i++ {
		if i == len(group) {
			if alone || time.Since(began) > groupTime {
				break
			}
			one, _ := db.writes.next()
			if one == nil {
				break
			}
			group = append(group, one)
		}
		if err := db.runOne(group[i], alone); err != nil {
			// After some errors, such as a full disk, SQLite has rolled back the whole transaction
			// itself (https://www.sqlite.org/lang_transaction.html, 2.3); then this fails, too.
			_ = db.writer.exec("ROLLBACK")
			return group, fmt.Errorf("another write of the same transaction failed: %w", err)
		}
	}
	if failedAlone := alone && (group[0].err != nil || group[0].panicked != nil); failedAlone {
		_ = db.writer.exec("ROLLBACK")
		db.noteFull(group[0].err)
		return group, group[0].err
	}
	if err := db.writer.exec("COMMIT"); err != nil {
		_ = db.writer.exec("ROLLBACK")
		return group, fmt.Errorf("commit: %w", err)
	}
	// Asked before it, the files could go in between, and nobody would find what was committed.
	return group, db.files.check()
}

// runOne runs one write, unless it is alone in a savepoint of its own. Its error says that the whole
// transaction is gone.
func (db *DB) runOne(one *write, alone bool) error {
	if !alone {
		if err := db.writer.exec("SAVEPOINT " + savepoint); err != nil {
			one.err = err
			return err
		}
	}
	db.call(one)
	if alone {
		return nil
	}
	if one.err != nil || one.panicked != nil {
		db.noteFull(one.err)
		if err := db.writer.exec("ROLLBACK TO " + savepoint); err != nil {
			if one.err != nil {
				return one.err // the cause; that there is no savepoint any more only follows from it
			}
			return err
		}
	}
	err := db.writer.exec("RELEASE " + savepoint)
	if err != nil && one.err == nil {
		one.err = err
	}
	return err
}

// call runs the function of a write, and what is attached to its transaction.
func (db *DB) call(one *write) {
	defer func() { one.panicked = recover() }()
	tx := &writeTx{c: db.writer}
	if one.err = one.fn(tx); one.err == nil {
		one.err = tx.finish()
	}
}
