package sandbox

import (
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The sandbox judges this repository's programs by a reading of its own, so it
// shares nothing with them; and it needs nothing but the standard library.
func TestImports(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "markup/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			host, _, _ := strings.Cut(path, "/")
			ours := host == "notifier" && path != "notifier/internal/telegram/sandbox/markup" &&
				!(strings.HasSuffix(name, "_test.go") && path == "notifier/internal/telegram/sandbox")
			foreign := strings.Contains(host, ".") && !strings.HasSuffix(name, "_test.go")
			if ours || foreign {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
