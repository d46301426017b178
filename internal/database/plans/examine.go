package plans

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"notifier"
	"notifier/internal/database"
)

// small are the tables that do not grow with the number of messages, orders or customers.
var small = []string{
	"notifier_schema", "notifier_channels", "notifier_senders", "sqlite_sequence",
	"notifier_counts", // a row for each kind
	"notifier_pauses", // a row for each pause by a person, until purged
	"notifier_tasks",  // a row for each action that is not finished; usually none
}

// telling are the columns whose value chooses few rows: those of one message, address or customer.
var telling = []string{
	"rowid", "id", "message_id", "address", "recipient", "subject", "idempotency_key", "alias_of", "target",
	"customer_id", "number", "token_hash", "update_id", "chat", "key", "name",
	"<expr>", // of notifier_keys_customer
}

// examine returns what is wrong with the plans of the statements. complete: also what nothing uses.
func examine(statements, owns []string, complete bool) ([]string, error) {
	dir, err := os.MkdirTemp("", "plans")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	path := filepath.Join(dir, "empty.db")
	created, err := database.Open(context.Background(), path, notifier.Schema, notifier.SchemaVersion)
	if err != nil {
		return nil, err
	}
	if err := created.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // for the pragma
	defer db.Close()      //nolint:errcheck // it has only read
	triggers, err := questions(db)
	if err != nil {
		return nil, err
	}
	e := &examiner{db: db, used: map[string]bool{}, excused: map[int]bool{}}
	for _, s := range append(statements, triggers...) {
		if err := e.statement(s); err != nil {
			return e.complaints, fmt.Errorf("explain %s: %w", oneLine(s), err)
		}
	}
	if complete {
		err = e.unused(owns)
	}
	return e.complaints, err
}

var ofNewRow = regexp.MustCompile(`NEW\.\w+`)

// questions are the subqueries of the triggers: the plan of an INSERT does not show them.
func questions(db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(context.Background(), `SELECT sql FROM sqlite_schema WHERE type = 'trigger'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		for _, rest := range strings.Split(text, "(SELECT ")[1:] {
			open, end := 1, 0
			for ; open > 0 && end < len(rest); end++ {
				open += strings.Count(rest[end:end+1], "(") - strings.Count(rest[end:end+1], ")")
			}
			list = append(list, ofNewRow.ReplaceAllString("SELECT "+rest[:end-1], "?"))
		}
	}
	return list, rows.Err()
}

type examiner struct {
	db         *sql.DB
	used       map[string]bool // indexes
	excused    map[int]bool    // exceptions
	complaints []string
}

func (e *examiner) statement(query string) error {
	if first, _, _ := strings.Cut(strings.TrimSpace(query), " "); slices.Contains([]string{"PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "VACUUM"}, first) {
		return nil
	}
	steps, err := e.plan(query)
	if err != nil {
		return err
	}
	text := oneLine(query)
	names := aliases(text)
	grows := touchesGrowing(text)
	for _, step := range steps {
		if m := usedIndex.FindStringSubmatch(step); m != nil {
			e.used[m[1]] = true
		}
		if why := objection(step, names, grows); why != "" && !e.excuse(text, step) {
			e.complaints = append(e.complaints, fmt.Sprintf("%s: %s\n\t%s\n\twhole plan: %s", why, step, text, strings.Join(steps, "; ")))
		}
	}
	return nil
}

// plan are the steps of a statement, see https://www.sqlite.org/eqp.html.
func (e *examiner) plan(query string) ([]string, error) {
	rows, err := e.db.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, nothing(query)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, err
		}
		steps = append(steps, detail)
	}
	return steps, rows.Err()
}

var parameter = regexp.MustCompile(`\?(\d*)`)

// nothing are NULLs for the parameters of a statement. None of ours has a question mark elsewhere.
func nothing(query string) []any {
	n := 0
	for _, m := range parameter.FindAllStringSubmatch(query, -1) {
		given := 0
		if _, err := fmt.Sscan(m[1], &given); err != nil {
			given = n + 1
		}
		n = max(n, given)
	}
	return make([]any, n)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var (
	named     = regexp.MustCompile(`\b(outbox|notifier_\w+) (?:AS )?(\w+)`)
	nested    = regexp.MustCompile(`\) (?:AS )?([a-z]\w*)`)
	usedIndex = regexp.MustCompile(`USING (?:COVERING )?INDEX (\w+)`)
	access    = regexp.MustCompile(`^(SCAN|SEARCH) (\S+)`)
	chosenBy  = regexp.MustCompile(` \((.*)\)`)
)

// aliases says for which table a name in the plan stands; empty: for a subquery.
func aliases(text string) map[string]string {
	names := map[string]string{}
	for _, m := range nested.FindAllStringSubmatch(text, -1) {
		names[m[1]] = ""
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		names[m[2]] = m[1]
	}
	return names
}

var ours = regexp.MustCompile(`\b(outbox|notifier_[a-z]+)\b`)

// touchesGrowing says whether a statement names a table that grows.
func touchesGrowing(text string) bool {
	return slices.ContainsFunc(ours.FindAllString(text, -1), func(name string) bool { return !slices.Contains(small, name) })
}

// objection is what is wrong with a step, if anything.
func objection(step string, names map[string]string, grows bool) string {
	if grows && strings.HasPrefix(step, "USE TEMP B-TREE") {
		return "it sorts"
	}
	m := access.FindStringSubmatch(step)
	if m == nil {
		return ""
	}
	table := m[2]
	if stands, ok := names[table]; ok {
		table = stands
	}
	if table == "" || strings.HasPrefix(table, "(") || slices.Contains(small, table) || step == "SCAN CONSTANT ROW" {
		return ""
	}
	if m[1] == "SCAN" {
		return "it scans " + table
	}
	if strings.Contains(step, "USING AUTOMATIC") {
		return "it builds an index of " + table
	}
	return unbounded(step, table)
}

// unbounded says that a search may find very many rows: no column that chooses few of them has to be equal
// to something. A range of row ids is a scan in disguise.
func unbounded(step, table string) string {
	m := chosenBy.FindStringSubmatch(step)
	if m == nil { // the largest or smallest row id
		return ""
	}
	for _, condition := range strings.Split(m[1], " AND ") {
		column, equal := strings.CutSuffix(condition, "=?")
		if equal && slices.Contains(telling, column) {
			return ""
		}
	}
	return "it may walk over much of " + table
}

func (e *examiner) excuse(text, step string) bool {
	for i, x := range exceptions {
		if strings.Contains(text, x.statement) && strings.Contains(step, x.step) {
			e.excused[i] = true
			return true
		}
	}
	return false
}

// unused complains about indexes of a package's tables that no statement uses, and about exceptions of
// its statements that no longer hold.
func (e *examiner) unused(owns []string) error {
	rows, err := e.db.QueryContext(context.Background(), `SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	for rows.Next() {
		var index, table string
		if err := rows.Scan(&index, &table); err != nil {
			return err
		}
		if slices.Contains(owns, table) && !e.used[index] {
			e.complaints = append(e.complaints, "no statement that the tests execute uses the index "+index)
		}
	}
	for i, x := range exceptions {
		if slices.Contains(owns, x.table) && !e.excused[i] {
			e.complaints = append(e.complaints, "no statement needs the exception for "+x.statement)
		}
	}
	return errors.Join(rows.Err())
}
