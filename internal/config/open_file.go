package config

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// WarnOfOpenFile warns when others on this machine can read secrets in a settings file.
func WarnOfOpenFile(log *slog.Logger, file string) {
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return
	}
	values, err := readDotenv(file)
	if err != nil {
		return // reading the settings has said so
	}
	for _, e := range (Settings{}).entries() {
		if e.secret && values[e.name] != "" {
			log.Warn(fmt.Sprintf("others on this machine can read the secrets in %s: run `chmod 600 %s`", file, file),
				"mode", fmt.Sprintf("%04o", info.Mode().Perm()))
			return
		}
	}
}

// SecretFiles are the files that secrets are read from, as the environment and the settings file
// name them.
func SecretFiles(environ []string, file string) (files []string) {
	values, err := readDotenv(file)
	if err != nil {
		return nil
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	for _, e := range (Settings{}).entries() {
		if file := values[e.name+"_FILE"]; e.secret && file != "" {
			files = append(files, file)
		}
	}
	return files
}
