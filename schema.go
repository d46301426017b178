// Package notifier holds what has to lie at the root of the tree: the schema of a fresh database,
// which people read there and programs get from here.
package notifier

import _ "embed"

// Schema creates all tables of a fresh database; see schema.sql.
//
//go:embed schema.sql
var Schema string

// SchemaVersion is the version that Schema creates and that this program reads and writes.
const SchemaVersion = 1
