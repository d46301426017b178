package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"notifier/internal/app"
	"notifier/internal/config"
)

// needDatabase refuses to go on without a database: a slip in DATABASE_URL, or the wrong folder, must
// not look like a shop without messages, nor leave an empty database behind.
func (p *program) needDatabase(s config.Settings) error {
	_, err := os.Stat(s.Database)
	if !errors.Is(err, fs.ErrNotExist) {
		return nil // whoever opens it says what else is wrong
	}
	where := s.Database
	if absolute, err := filepath.Abs(where); err == nil {
		where = absolute
	}
	return fmt.Errorf("there is no database at %s; go to its folder, or let DATABASE_URL say where it is (`notifier serve` makes a new one)\n%s", where, p.source())
}

// openExisting wires everything but the sender, on a database that is there.
func (p *program) openExisting(ctx context.Context, s config.Settings, log *slog.Logger) (*app.App, error) {
	if err := p.needDatabase(s); err != nil {
		return nil, err
	}
	return app.New(ctx, s, log, app.WithoutCreating())
}
