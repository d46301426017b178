package database

import (
	"fmt"
	"strconv"
	"strings"
)

// step is one part of a script that lifts a database by a version.
type step struct {
	name  string
	share int64 // how much of the whole time it takes, in parts that mean nothing by themselves
	// A step in slices runs once for each slice of the rows of table, in the order of key, which is
	// an integer that is unique. Its statements find the slice between `low` and `high` in
	// notifier_migration. Any other step is one transaction.
	table, key string
	// The table whose indexes and triggers of others are put on the table that takes its name.
	carry string
	sql   string
}

// defaultShare is what a step takes that does not say so.
const defaultShare = 1

// parseScript reads the steps of a script. It is plain SQL in which comments of their own lines
// say what SQL cannot:
//
//	-- step: NAME                   a new step begins here
//	-- slices: TABLE by COLUMN      it runs in slices
//	-- share: N                     how long it takes, compared with other steps
//	-- carry: TABLE                 what others made for TABLE is made again for its successor
//
// A script without steps is one step.
func parseScript(text string) ([]step, error) {
	steps := []step{{share: defaultShare}}
	for line := range strings.Lines(text) {
		last := &steps[len(steps)-1]
		word, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			word = ""
		}
		var err error
		switch word {
		case "-- step":
			if strings.TrimSpace(withoutComments(last.sql)) == "" { // what stands above the first step
				steps = steps[:len(steps)-1]
			}
			steps = append(steps, step{name: value, share: defaultShare})
		case "-- slices":
			last.table, last.key, found = strings.Cut(value, " by ")
			if !found {
				err = fmt.Errorf("slices: %q should be TABLE by COLUMN", value)
			}
		case "-- share":
			last.share, err = strconv.ParseInt(value, 10, 64)
		case "-- carry":
			last.carry = value
		default:
			last.sql += line
		}
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", last.name, err)
		}
	}
	return steps, nil
}

func withoutComments(sql string) string {
	var kept strings.Builder
	for line := range strings.Lines(sql) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func shares(steps []step) (sum int64) {
	for _, s := range steps {
		sum += s.share * partsOfShare
	}
	return sum
}
