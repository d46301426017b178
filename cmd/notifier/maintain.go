package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"notifier"
	"notifier/internal/app"
	"notifier/internal/database"
)

type migrateCmd struct{}

// Run lifts the database to the schema version of this program.
func (migrateCmd) Run(ctx context.Context, p *program) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.Database); errors.Is(err, fs.ErrNotExist) {
		_, err := fmt.Fprintf(p.stdout, "There is no database at %s yet: `notifier serve` creates it with version %d.\n", s.Database, notifier.SchemaVersion)
		return err
	}
	progress := newMigrationProgress(p.stdout, time.Now())
	from, err := database.Migrate(ctx, s.Database, notifier.SchemaVersion, notifier.Migration, func(at database.Progress) {
		progress.show(at, time.Now())
	})
	if err != nil {
		return fmt.Errorf("%w\nDATABASE_URL says where the database is", err)
	}
	switch from {
	case 0:
		_, err = fmt.Fprintf(p.stdout, "%s has no tables of notifier: `notifier serve` creates them with version %d.\n", s.Database, notifier.SchemaVersion)
	case notifier.SchemaVersion:
		_, err = fmt.Fprintf(p.stdout, "%s has version %d already.\n", s.Database, from)
	default:
		_, err = fmt.Fprintf(p.stdout, "%s is lifted from version %d to %d.\n", s.Database, from, notifier.SchemaVersion)
	}
	return err
}

type backupCmd struct {
	File string `arg:"" help:"The new file; an existing one is refused." type:"path"`
}

// Run writes a consistent copy while others go on writing.
func (c *backupCmd) Run(ctx context.Context, p *program) error {
	a, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	err = a.Backup(ctx, c.File)
	if err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return fmt.Errorf("look at the backup: %w", err)
	}
	_, err = fmt.Fprintf(p.stdout, "%s has %d bytes. A service that is started on it begins paused; docs/operations.md says how to restore it.\n",
		c.File, info.Size())
	return err
}

type purgeCmd struct {
	DryRun bool `help:"Only say what would go."`
	JSON   bool `help:"Print JSON."`
}

// Run erases what has been kept for long enough. A person decides: the clock is not asked.
func (c *purgeCmd) Run(ctx context.Context, p *program) error {
	a, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	do := a.Purge
	if c.DryRun {
		do = a.CountPurge
	}
	r, err := do(ctx, time.Now())
	if err != nil {
		return fmt.Errorf("%w\nwhat was done until then remains done; run it again to go on", err)
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(r)
	}
	_, err = fmt.Fprintln(p.stdout, r)
	return err
}

// open wires everything but the sender, for verbs that work on the database.
func (p *program) open(ctx context.Context) (*app.App, error) {
	s, err := p.settings()
	if err != nil {
		return nil, err
	}
	return p.openExisting(ctx, s, newLog(p.stderr, slog.LevelError, s.LogFormat))
}
