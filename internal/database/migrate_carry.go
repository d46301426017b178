package database

import (
	"context"
	"fmt"
	"strings"
)

// doubled makes a name fit between double quotes.
var doubled = strings.NewReplacer(`"`, `""`)

// made is an index or a trigger that somebody else made for a table of ours.
type made struct{ kind, name, sql string }

// takeOff removes from a table what others made for it, and returns that. All that is ours was
// removed from it before, but for the triggers that refuse writes during a migration.
func (m *migration) takeOff(table string) ([]made, error) {
	rows, err := m.c.query(context.Background(), `SELECT type, name, sql FROM sqlite_master
		WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL AND name NOT LIKE 'notifier\_%' ESCAPE '\'
		ORDER BY rowid`, []any{table})
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close() //nolint:errcheck // read to its end
	var others []made
	for rows.Next() {
		var o made
		if err := rows.Scan(&o.kind, &o.name, &o.sql); err != nil {
			return nil, explain(err)
		}
		others = append(others, o)
	}
	if err := rows.Err(); err != nil {
		return nil, explain(err)
	}
	for _, o := range others {
		if err := m.exec(fmt.Sprintf(`DROP %s "%s"`, o.kind, doubled.Replace(o.name))); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// putOn makes again for a table what others had made for the one before it.
func (m *migration) putOn(table string, others []made) error {
	for _, o := range others {
		if err := m.exec(o.sql); err != nil {
			return fmt.Errorf("the %s %s, which is not notifier's, does not fit the new table %s; remove it, run `notifier migrate` again, and make one that fits: %w",
				o.kind, o.name, table, err)
		}
	}
	return nil
}
