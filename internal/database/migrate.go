package database

import (
	"context"
	"fmt"
)

// Migrate lifts the database at path to version, one step after another, all in one transaction,
// and returns the version it had. step gives the SQL of each step. A database that has the
// version, or is fresh, is left alone; a newer one is refused.
func Migrate(ctx context.Context, path string, version int, step func(version int) (string, error)) (from int, err error) {
	resolved, err := resolve(path)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	c, err := connect(ctx, resolved)
	if err != nil {
		return 0, fmt.Errorf("migrate %s: %w", resolved, err)
	}
	defer c.close() //nolint:errcheck // what matters is committed
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return 0, fmt.Errorf("migrate %s: %w", resolved, err)
	}
	from, err = c.climb(version, step)
	if err != nil {
		_ = c.exec("ROLLBACK")
		return from, fmt.Errorf("migrate %s: %w", resolved, err)
	}
	if err := c.exec("COMMIT"); err != nil {
		return from, fmt.Errorf("migrate %s: %w", resolved, err)
	}
	return from, nil
}

func (c *connection) climb(version int, step func(int) (string, error)) (int, error) {
	from, err := c.schemaVersion()
	if err != nil || from == 0 || from == version {
		return from, err
	}
	if from > version {
		return from, &VersionError{Database: from, Program: version}
	}
	for next := from + 1; next <= version; next++ {
		text, err := step(next)
		if err != nil {
			return from, err
		}
		if _, err := c.conn.ExecContext(context.Background(), text); err != nil {
			return from, fmt.Errorf("to version %d: %w", next, explain(err))
		}
	}
	reached, err := c.schemaVersion()
	if err == nil && reached != version {
		err = fmt.Errorf("it ended at version %d, not %d", reached, version)
	}
	return from, err
}
