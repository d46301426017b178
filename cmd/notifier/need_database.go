package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"notifier/internal/config"
)

// needDatabase refuses to go on without a database, for verbs about what is in it: a slip in
// DATABASE_URL, or the wrong folder, must not look like a shop without messages.
func needDatabase(s config.Settings) error {
	_, err := os.Stat(s.Database)
	if !errors.Is(err, fs.ErrNotExist) {
		return nil // whoever opens it says what else is wrong
	}
	where := s.Database
	if absolute, err := filepath.Abs(where); err == nil {
		where = absolute
	}
	return fmt.Errorf("there is no database at %s; go to its folder, or let DATABASE_URL say where it is (`notifier serve` makes a new one)", where)
}
