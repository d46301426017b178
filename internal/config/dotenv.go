package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// WriteFile puts values into a settings file, or makes it, with mode 0600. Lines about other
// names stay as they are; those about the names in without go.
func WriteFile(file string, values map[string]string, without ...string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", file, err)
	}
	names := slices.Sorted(maps.Keys(values))
	ours := regexp.MustCompile(`^\s*(export\s+)?(` + strings.Join(append(slices.Clone(names), without...), "|") + `)\s*[=:]`)
	var kept []string
	for _, line := range strings.Split(strings.TrimRight(string(old), "\n"), "\n") {
		if !ours.MatchString(line) {
			kept = append(kept, line)
		}
	}
	for _, name := range names {
		kept = append(kept, name+"="+values[name])
	}
	text := strings.TrimLeft(strings.Join(kept, "\n"), "\n") + "\n"
	// A new file takes the place of the old: nobody reads half of it, and its mode is right from
	// the start.
	unfinished, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, errWrite := unfinished.WriteString(text)
	err = errors.Join(errWrite, keepOwner(unfinished, file), unfinished.Sync(), unfinished.Close())
	if err == nil {
		err = os.Rename(unfinished.Name(), file)
	}
	if err != nil {
		_ = os.Remove(unfinished.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// keepOwner lets a file that root writes anew belong to whom the old one belonged to: the service.
func keepOwner(f *os.File, old string) error {
	info, err := os.Stat(old)
	if errors.Is(err, fs.ErrNotExist) || os.Geteuid() != 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return f.Chown(int(s.Uid), int(s.Gid))
	}
	return nil
}
