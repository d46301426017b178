// Package notifier holds what has to lie at the root of the tree: the schema of a fresh database
// and the migrations that lift older ones, which people read there and programs get from here.
package notifier

import (
	"embed"
	"fmt"
	"io/fs"
)

// Schema creates all tables of a fresh database; see schema.sql.
//
//go:embed schema.sql
var Schema string

// SchemaVersion is the version that Schema creates and that this program reads and writes.
const SchemaVersion = 3

//go:embed migrations/*.sql
var migrations embed.FS

// Migration is the SQL that lifts a database to a version from the one before it.
func Migration(version int) (string, error) {
	names, err := fs.Glob(migrations, fmt.Sprintf("migrations/%04d_*.sql", version))
	if err != nil || len(names) != 1 {
		return "", fmt.Errorf("there is no migration to schema version %d", version)
	}
	text, err := migrations.ReadFile(names[0])
	return string(text), err
}
