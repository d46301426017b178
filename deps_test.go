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

// room is what a package of ours may import besides the standard library. Tests may import more.
type room struct {
	rooms     []string // of ours
	libraries []string // of others
}

// rooms is the house: who may know whom. A new line here is a change of the design.
var rooms = map[string]room{
	".":                 {},
	"internal/database": {libraries: []string{"github.com/fsnotify/fsnotify", "golang.org/x/sys", "modernc.org/sqlite"}},
	"internal/outbox":   {rooms: []string{"internal/database"}},
	"internal/orders": {
		rooms:     []string{"internal/database", "internal/outbox"},
		libraries: []string{"github.com/bojanz/currency"},
	},
	"internal/idempotency": {rooms: []string{"internal/database"}},
	"internal/telegram": {
		rooms:     []string{"internal/outbox"},
		libraries: []string{"github.com/go-telegram/bot", "golang.org/x/time"},
	},
	"internal/telegram/text": {
		rooms:     []string{"internal/orders"},
		libraries: []string{"github.com/bojanz/currency"},
	},
	"internal/telegram/sandbox":        {rooms: []string{"internal/telegram/sandbox/markup"}},
	"internal/telegram/sandbox/markup": {},
	// The sandbox for the tests of others.
	"sandbox":                   {rooms: []string{"internal/telegram/sandbox"}},
	"internal/telegram/updates": {rooms: []string{"internal/database", "internal/telegram", "internal/outbox"}},
	"internal/conversation": {rooms: []string{"internal/database", "internal/outbox", "internal/orders",
		"internal/telegram", "internal/telegram/updates"}},
	"internal/lookout": {},
	"internal/httpapi": {
		rooms:     []string{"internal/database", "internal/idempotency", "internal/orders", "internal/outbox"},
		libraries: []string{"github.com/danielgtaylor/huma/v2", "github.com/prometheus/client_golang"},
	},
	"cmd/notifier": {
		rooms: []string{".", "internal/conversation", "internal/database", "internal/httpapi", "internal/idempotency",
			"internal/lookout", "internal/orders", "internal/outbox", "internal/telegram", "internal/telegram/sandbox",
			"internal/telegram/text", "internal/telegram/updates"},
		libraries: []string{"github.com/alecthomas/kong", "github.com/bojanz/currency", "github.com/caarlos0/env/v11",
			"github.com/joho/godotenv", "github.com/lmittmann/tint", "github.com/prometheus/client_golang",
			"github.com/robfig/cron/v3", "golang.org/x/sync", "golang.org/x/sys"},
	},
	// Examples for people who test against the sandbox; they know none of our rooms.
	"examples/sandbox":    {},
	"examples/sandbox/go": {libraries: []string{"github.com/go-telegram/bot"}},
	// Stories that are told by tests alone.
	"internal/e2e":            {},
	"internal/outbox/pattern": {},
}

func TestImportsFollowTheHouse(t *testing.T) {
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
		allowed, known := rooms[name]
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
			if !allowed.mayImport(imported) {
				t.Errorf("%s imports %s", file, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range rooms {
		if !seen[name] {
			t.Errorf("%s is in the table of this test and not in the tree", name)
		}
	}
}

func (r room) mayImport(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case imported == "notifier":
		return slices.Contains(r.rooms, ".")
	case first == "notifier":
		return slices.Contains(r.rooms, strings.TrimPrefix(imported, "notifier/"))
	case !strings.Contains(first, "."):
		return true // the standard library
	}
	return slices.ContainsFunc(r.libraries, func(l string) bool {
		return imported == l || strings.HasPrefix(imported, l+"/")
	})
}
