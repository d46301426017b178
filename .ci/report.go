//go:build ignore

// Report reads the events of `go test -json` and prints what go test prints without -v. Its last lines
// say which tests were left out, and why: a test that needs Node or a browser is no proof where there is
// none. It exits 1 when something failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// event is one line (go doc test2json).
type event struct {
	Action, Package, Test, Output, ImportPath string
}

func main() {
	said := map[[2]string][]string{} // by package and test, until it has ended
	var skipped []string
	failed := false
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			fmt.Print(string(line))
		default:
			key := [2]string{e.Package, e.Test}
			switch e.Action {
			case "output", "build-output":
				said[key] = append(said[key], e.Output)
			case "skip":
				if e.Test != "" {
					skipped = append(skipped, fmt.Sprintf("  %s %s: %s", e.Package, e.Test, reason(said[key])))
				}
			case "fail", "build-fail":
				failed = true
				fmt.Print(strings.Join(said[key], ""))
			}
			if e.Test == "" && (e.Action == "pass" || e.Action == "skip") {
				fmt.Print(strings.Join(results(said[key]), ""))
			}
			if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" || e.Action == "build-fail" {
				delete(said, key)
			}
		}
		if err != nil {
			break
		}
	}
	tell(skipped)
	if failed {
		os.Exit(1)
	}
}

// reason is what a test said when it was left out, in one line.
func reason(said []string) string {
	words := ""
	for _, line := range said {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") && words == "" {
			words = line
		}
	}
	if _, after, found := strings.Cut(words, ".go:"); found {
		if _, rest, found := strings.Cut(after, ": "); found {
			return rest
		}
	}
	return words
}

// results are the lines about a whole package.
func results(said []string) []string {
	return slices.DeleteFunc(said, func(line string) bool { return line == "PASS\n" })
}

func tell(skipped []string) {
	if len(skipped) == 0 {
		fmt.Println("No test was left out.")
		return
	}
	slices.Sort(skipped)
	fmt.Printf("Left out, so that nothing is known of what they test (%d):\n%s\n", len(skipped), strings.Join(skipped, "\n"))
}
