// Package notifier holds what has to lie at the root of the tree: the schema of a fresh database
// and the migrations that lift older ones, which people read there and programs get from here.
package notifier

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Schema creates all tables of a fresh database; see schema.sql.
//
//go:embed schema.sql
var Schema string

// SchemaVersion is the version that Schema creates and that this program reads and writes.
const SchemaVersion = 3

//go:embed migrations/*.sql
var migrations embed.FS

// Migration is the script that lifts a database to a version from the one before it: one file of
// migrations/, or several in the order of their names. See database.Migrate.
func Migration(version int) (string, error) {
	names, err := fs.Glob(migrations, fmt.Sprintf("migrations/%04d_*.sql", version))
	if err != nil || len(names) == 0 {
		return "", fmt.Errorf("there is no migration to schema version %d", version)
	}
	var script strings.Builder
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return "", err
		}
		script.Write(text)
		script.WriteByte('\n')
	}
	return script.String(), nil
}
