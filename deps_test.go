package notifier

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports is what a package of ours may import besides the standard library. Its tests may import more.
type imports struct {
	packages  []string // of ours
	libraries []string // of others
}

// allowed says which package may import which. A new line here is a change of the design.
var allowed = map[string]imports{
	".":                 {},
	"internal/database": {libraries: []string{"github.com/fsnotify/fsnotify", "golang.org/x/sys", "modernc.org/sqlite"}},
	// Tests alone import it.
	"internal/database/plans": {packages: []string{".", "internal/database"}},
	"internal/bigtable":       {packages: []string{"."}, libraries: []string{"modernc.org/sqlite"}},
	"internal/outbox":         {packages: []string{"internal/database"}},
	"internal/secret":         {},
	"internal/config": {
		packages:  []string{"internal/secret", "internal/telegram/ratelimit", "internal/telegram/syntax"},
		libraries: []string{"github.com/caarlos0/env/v11", "github.com/joho/godotenv", "github.com/robfig/cron/v3"},
	},
	"internal/orders": {
		packages:  []string{"internal/database", "internal/outbox"},
		libraries: []string{"github.com/bojanz/currency"},
	},
	"internal/idempotency": {packages: []string{"internal/database"}},
	"internal/telegram": {
		packages:  []string{"internal/outbox", "internal/secret", "internal/telegram/syntax"},
		libraries: []string{"github.com/go-telegram/bot"},
	},
	"internal/telegram/syntax":    {packages: []string{"internal/secret"}},
	"internal/telegram/ratelimit": {libraries: []string{"golang.org/x/time"}},
	"internal/telegram/text": {
		packages:  []string{"internal/orders"},
		libraries: []string{"github.com/bojanz/currency"},
	},
	"internal/telegram/sandbox":        {packages: []string{"internal/telegram/sandbox/markup"}},
	"internal/telegram/sandbox/markup": {},
	// The sandbox for the tests of others.
	"sandbox":                   {packages: []string{"internal/telegram/sandbox"}},
	"internal/telegram/updates": {packages: []string{"internal/database", "internal/outbox", "internal/secret", "internal/telegram", "internal/telegram/syntax"}},
	"internal/bot": {packages: []string{"internal/database", "internal/outbox", "internal/orders",
		"internal/telegram", "internal/telegram/updates"}},
	"internal/alerts":     {},
	"internal/conditions": {packages: []string{"internal/database", "internal/outbox"}},
	"internal/doctor": {
		packages: []string{".", "internal/conditions", "internal/config", "internal/database", "internal/outbox",
			"internal/telegram", "internal/telegram/syntax"},
		libraries: []string{"golang.org/x/sys"},
	},
	"internal/app": {
		packages: []string{".", "internal/alerts", "internal/bot", "internal/conditions", "internal/config", "internal/database",
			"internal/httpapi", "internal/idempotency", "internal/orders", "internal/outbox", "internal/telegram",
			"internal/telegram/ratelimit", "internal/telegram/syntax", "internal/telegram/text", "internal/telegram/updates"},
		libraries: []string{"github.com/prometheus/client_golang", "github.com/robfig/cron/v3", "golang.org/x/sync"},
	},
	"internal/httpapi": {
		packages: []string{"internal/conditions", "internal/config", "internal/database", "internal/idempotency", "internal/orders",
			"internal/outbox", "internal/telegram/syntax"},
		libraries: []string{"github.com/danielgtaylor/huma/v2", "github.com/prometheus/client_golang"},
	},
	"cmd/notifier": {
		packages: []string{".", "internal/app", "internal/config", "internal/database", "internal/doctor", "internal/orders",
			"internal/outbox", "internal/secret", "internal/telegram", "internal/telegram/sandbox", "internal/telegram/syntax"},
		libraries: []string{"github.com/alecthomas/kong", "github.com/bojanz/currency", "github.com/lmittmann/tint", "golang.org/x/sync"},
	},
	// Examples for people who test against the sandbox; they import no package of ours.
	"examples/sandbox":    {},
	"examples/sandbox/go": {libraries: []string{"github.com/go-telegram/bot"}},
	// What `make test` prints.
	".ci": {},
	// They hold tests alone.
	"internal/e2e":            {},
	"internal/outbox/pattern": {},
}

func TestImportsFollowTheTable(t *testing.T) {
	seen := map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir // modules of their own
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		name := path.Dir(file)
		seen[name] = true
		may, known := allowed[name]
		if !known {
			t.Errorf("%s: the package is not in the table of this test", file)
		}
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !may.have(imported) {
				t.Errorf("%s imports %s", file, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("%s is in the table of this test and not in the tree", name)
		}
	}
}

func (i imports) have(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case imported == "notifier":
		return slices.Contains(i.packages, ".")
	case first == "notifier":
		return slices.Contains(i.packages, strings.TrimPrefix(imported, "notifier/"))
	case !strings.Contains(first, "."):
		return true // the standard library
	}
	return slices.ContainsFunc(i.libraries, func(l string) bool {
		return imported == l || strings.HasPrefix(imported, l+"/")
	})
}
