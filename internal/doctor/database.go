package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"notifier/internal/database"
)

// leastSpace is how much room there should be for orders of some days and a purge.
const leastSpace = 100 << 20

func (e *examination) checkDisk() {
	free, err := database.FreeSpace(e.databaseFile())
	switch {
	case err != nil:
		e.bad("disk", "mkdir -p "+quoted(filepath.Dir(e.databaseFile())), "the folder of the database: %v", err)
	case free < leastSpace:
		e.bad("disk", "notifier purge", "only %d MB are free where the database is; give it more, or erase what is old", free>>20)
	default:
		e.well("disk", "%d MB are free where the database is", free>>20)
	}
}

// checkFileSystem warns of one on which SQLite's locks do not hold.
func (e *examination) checkFileSystem() {
	const check = "file system"
	switch name, err := database.NetworkFileSystem(e.databaseFile()); {
	case err != nil: // the disk's check has said so
	case name != "":
		e.bad(check, "df -T "+quoted(filepath.Dir(e.databaseFile())), "the database is on a network file system (%s), where SQLite's locks do not hold between machines: put it on a local disk", name)
	default:
		e.well(check, "the database is on a local one")
	}
}

// databaseFile is the database's absolute path.
func (e *examination) databaseFile() string {
	path, err := filepath.Abs(e.settings.Database)
	if err != nil {
		return e.settings.Database
	}
	return path
}

// checkDatabaseFile looks at the rights of the database's files, and says whether there is one that
// can be opened.
func (e *examination) checkDatabaseFile() bool {
	const check = "database file"
	path := e.databaseFile()
	if strings.Contains(e.settings.Database, "://") {
		e.bad(check, e.edit(), "DATABASE_URL must be the path of a SQLite file")
		return false
	}
	if unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK) != nil {
		e.bad(check, "ls -ld "+quoted(filepath.Dir(path)), "this user may not write in the folder of %s, where the write-ahead log and the lock lie", path)
		return false
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.well(check, "there is none yet at %s; `notifier serve` creates it", path)
		return false
	case err != nil:
		e.bad(check, "ls -l "+quoted(path), "%v", err)
		return false
	case unix.Access(path, unix.R_OK|unix.W_OK) != nil:
		e.bad(check, "ls -l "+quoted(path), "this user may not read and write %s", path)
		return false
	case info.Mode().Perm()&0o077 != 0:
		e.bad(check, "chmod 600 "+quoted(path)+"*", "others on this machine can read customers' names and chats in %s (mode %04o)", path, info.Mode().Perm())
	default:
		e.well(check, "%s is readable by its owner alone", path)
	}
	return true
}

// noDatabase says whether there is none yet, as right after setup.
func (e *examination) noDatabase() bool {
	_, err := os.Stat(e.databaseFile())
	return errors.Is(err, fs.ErrNotExist)
}

// mendDatabase is what helps with a database that could not be opened.
func (e *examination) mendDatabase(err error) string {
	var version *database.VersionError
	if errors.As(err, &version) && version.Database < version.Program {
		return "notifier migrate"
	}
	if errors.As(err, &version) {
		return "notifier version"
	}
	if database.Unavailable(err) && !errors.Is(err, database.ErrBusy) {
		return e.restore()
	}
	return "ls -l " + quoted(e.databaseFile())
}

// restore is how a database is replaced by the latest backup: the file, and the log that belongs to it.
func (e *examination) restore() string {
	path := quoted(e.databaseFile())
	return fmt.Sprintf(`for f in '' -wal -shm; do [ ! -e %[1]s$f ] || mv %[1]s$f %[1]s$f.broken; done; cp "$BACKUP" %[1]s && chmod 600 %[1]s`, path)
}

// checkIntegrity says whether the database is whole.
func (e *examination) checkIntegrity(ctx context.Context) bool {
	const check = "database"
	var found string
	err := e.db.Read(ctx, func(tx database.Tx) error { return tx.QueryRow(`PRAGMA quick_check(1)`).Scan(&found) })
	switch {
	case err != nil:
		e.bad(check, e.mendDatabase(err), "%s", firstLine(err))
	case found != "ok":
		e.bad(check, e.restore(), "its content is damaged (%s): put the latest backup in its place, with BACKUP=FILE", firstLine(errors.New(found)))
	default:
		e.well(check, "its content is whole, and of this program's version")
		return true
	}
	return false
}

// checkIdentity says whether the token is of the bot that the database belongs to.
func (e *examination) checkIdentity(ctx context.Context) bool {
	client, err := e.Client(e.settings)
	if err != nil {
		return true // of the token, another check tells
	}
	defer client.Close()
	err = e.db.Read(ctx, func(tx database.Tx) error { return e.outbox.CheckIdentity(tx, client.ID()) })
	if err != nil {
		e.bad("bot", "notifier serve --accept-new-bot", "%v", err)
		return false
	}
	return true
}
