package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"notifier/internal/database"
	"notifier/internal/outbox"
)

// leastSpace is how much room there should be for orders of some days and a purge.
const leastSpace = 100 << 20

func (d *doctor) checkDisk() {
	free, err := database.FreeSpace(d.databaseFile())
	switch {
	case err != nil:
		d.bad("disk", "mkdir -p "+quoted(filepath.Dir(d.databaseFile())), "the folder of the database: %v", err)
	case free < leastSpace:
		d.bad("disk", "notifier purge", "only %d MB are free where the database is; give it more, or erase what is old", free>>20)
	default:
		d.well("disk", "%d MB are free where the database is", free>>20)
	}
}

// databaseFile is the database's absolute path.
func (d *doctor) databaseFile() string {
	path, err := filepath.Abs(d.settings.Database)
	if err != nil {
		return d.settings.Database
	}
	return path
}

// checkDatabaseFile looks at the rights of the database's files, and says whether there is one that
// can be opened.
func (d *doctor) checkDatabaseFile() bool {
	const check = "database file"
	path := d.databaseFile()
	if strings.Contains(d.settings.Database, "://") {
		d.bad(check, d.mendSetting("DATABASE_URL"), "DATABASE_URL must be the path of a SQLite file")
		return false
	}
	if unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK) != nil {
		d.bad(check, "ls -ld "+quoted(filepath.Dir(path)), "this user may not write in the folder of %s, where the write-ahead log and the lock lie", path)
		return false
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.well(check, "there is none yet at %s; `notifier serve` creates it", path)
		return false
	case err != nil:
		d.bad(check, "ls -l "+quoted(path), "%v", err)
		return false
	case unix.Access(path, unix.R_OK|unix.W_OK) != nil:
		d.bad(check, "ls -l "+quoted(path), "this user may not read and write %s", path)
		return false
	case info.Mode().Perm()&0o077 != 0:
		d.bad(check, "chmod 600 "+quoted(path)+"*", "others on this machine can read customers' names and chats in %s (mode %04o)", path, info.Mode().Perm())
	default:
		d.well(check, "%s is readable by its owner alone", path)
	}
	return true
}

// noDatabase says whether there is none yet, as right after setup.
func (d *doctor) noDatabase() bool {
	_, err := os.Stat(d.databaseFile())
	return errors.Is(err, fs.ErrNotExist)
}

// mendDatabase is what helps with a database that could not be opened.
func (d *doctor) mendDatabase(err error) string {
	var version *database.VersionError
	if errors.As(err, &version) && version.Database < version.Program {
		return "notifier migrate"
	}
	if errors.As(err, &version) {
		return "notifier version"
	}
	if database.Unavailable(err) && !errors.Is(err, database.ErrBusy) {
		return d.restore()
	}
	return "ls -l " + quoted(d.databaseFile())
}

// restore is how a database is replaced by the latest backup: the file, and the log that belongs to it.
func (d *doctor) restore() string {
	path := quoted(d.databaseFile())
	return fmt.Sprintf(`for f in '' -wal -shm; do [ ! -e %[1]s$f ] || mv %[1]s$f %[1]s$f.broken; done; cp "$BACKUP" %[1]s && chmod 600 %[1]s`, path)
}

func (d *doctor) checkIntegrity(ctx context.Context) {
	const check = "database"
	var found string
	err := d.house.db.Read(ctx, func(tx database.Tx) error { return tx.QueryRow(`PRAGMA quick_check(1)`).Scan(&found) })
	switch {
	case err != nil:
		d.bad(check, d.mendDatabase(err), "%s", firstLine(err))
	case found != "ok":
		d.bad(check, d.restore(), "its content is damaged (%s): put the latest backup in its place, with BACKUP=FILE", found)
	default:
		d.well(check, "its content is whole, and of this program's version")
	}
}

// checkIdentity says whether the token is of the bot that the database belongs to.
func (d *doctor) checkIdentity(ctx context.Context) bool {
	client, err := d.house.connect()
	if err != nil {
		return true // of the token, another check tells
	}
	err = d.house.db.Read(ctx, func(tx database.Tx) error { return d.house.box.CheckIdentity(tx, client.ID()) })
	if err != nil {
		d.bad("bot", "notifier serve --accept-new-bot", "%v", err)
		return false
	}
	return true
}

// checkSender looks at what holds up sending.
func (d *doctor) checkSender(ctx context.Context) {
	const check = "sender"
	f, err := d.house.find(ctx, time.Now())
	if err != nil {
		d.bad(check, d.mendDatabase(err), "%s", firstLine(err))
		return
	}
	sends := d.whoSends()
	switch {
	case f.copied:
		d.bad(check, "notifier resume", "%s", copyWords(f.waiting))
	case f.status.State == outbox.SenderPaused:
		d.bad(check, "notifier resume", "nothing is sent: %s", f.status.Reason)
	case d.guarded(ctx):
		d.bad(check, "notifier sender release", "%s", f.status.Reason)
	case sends == "" && !f.due.IsZero() && time.Since(f.due) > lateAfter:
		d.bad(check, "notifier dispatch --until-empty", "nobody sends, and a message has been due for %v: start `notifier serve`, or send once",
			time.Since(f.due).Round(time.Second))
	case sends == "":
		d.well(check, "nobody sends at present, and nothing is late")
	case f.status.State != outbox.SenderRunning:
		d.bad(check, "notifier sender", "%s sends, and is %s: %s", sends, f.status.State, f.status.Reason)
	default:
		d.well(check, "%s sends", sends)
	}
}

// whoSends is who has the sender's lock; empty when nobody has.
func (d *doctor) whoSends() string {
	lock, err := d.house.db.TryLock()
	var held *database.HeldError
	if errors.As(err, &held) {
		return held.Holder.String()
	}
	if err == nil {
		_ = lock.Release()
	}
	return ""
}

func (d *doctor) guarded(ctx context.Context) (on bool) {
	_ = d.house.db.Read(ctx, func(tx database.Tx) (err error) { // find has just read the same
		on, err = d.house.box.Guarded(tx)
		return err
	})
	return on
}

func (d *doctor) checkStaff(ctx context.Context) {
	const check = "staff chat"
	if d.settings.StaffChatID == 0 {
		d.well(check, "none is set: nobody hears of new orders")
		return
	}
	f, err := d.house.find(ctx, time.Now())
	if err != nil {
		return // told before
	}
	if code, detail := staffTrouble(f.staff); code != "" {
		d.bad(check, "notifier chat revive "+f.staff.Address, "%s", detail)
		return
	}
	d.well(check, "nothing is known against it")
}
