package main

import (
	"fmt"
	"log/slog"
	"os"
)

// warnOfOpenSettings warns when others on this machine can read secrets in the settings file.
func warnOfOpenSettings(log *slog.Logger, file string) {
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
