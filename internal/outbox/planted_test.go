//go:build long

package outbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A random test that finds nothing may be blind. Each patch in testdata/planted puts a fault into a
// copy of the program; random histories must find it there. It takes minutes, so only `make test-long` runs it.
func TestPlantedFaultsAreFound(t *testing.T) {
	patches, err := filepath.Glob("testdata/planted/*.patch")
	if err != nil || len(patches) < 3 {
		t.Fatalf("%d patches, %v", len(patches), err)
	}
	for _, patch := range patches {
		t.Run(strings.TrimSuffix(filepath.Base(patch), ".patch"), func(t *testing.T) {
			patch, err := filepath.Abs(patch)
			if err != nil {
				t.Fatal(err)
			}
			root := copyOfModule(t)
			inCopy(t, root, "patch", "-p1", "-i", patch)
			inCopy(t, root, "go", "test", "-c", "-o", "planted.test", "./internal/outbox")
			for _, seed := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
				c := exec.Command(filepath.Join(root, "planted.test"), "-test.run=^TestRandomHistories$", "-history.seed="+seed, "-history.steps=1500") //nolint:gosec // our own program
				c.Dir = filepath.Join(root, "internal/outbox")
				out, err := c.CombinedOutput()
				if err != nil {
					t.Logf("found by seed %s: %s", seed, firstComplaint(string(out)))
					return
				}
			}
			t.Error("no history has found it")
		})
	}
}

// copyOfModule copies the sources of the module, and removes them at the end of the test.
func copyOfModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(source, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "bin"):
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(root, name), 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path) //nolint:gosec // our own sources
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(root, name), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func inCopy(t *testing.T, root, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...) //nolint:gosec // fixed by the test
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// firstComplaint is the first line of a failing history that says what was wrong.
func firstComplaint(out string) string {
	for line := range strings.Lines(out) {
		if _, words, found := strings.Cut(line, "seed "); found && strings.Contains(words, "step") {
			return strings.TrimSpace(words)[:min(200, len(strings.TrimSpace(words)))]
		}
	}
	return out[:min(len(out), 1000)]
}
