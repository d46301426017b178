package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"notifier/internal/config"
	"notifier/internal/telegram/syntax"
)

// checkSettingsFile looks at who can read the secrets.
func (e *examination) checkSettingsFile() {
	info, err := os.Stat(e.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.well("settings file", "there is none; all settings come from the environment")
	case err != nil:
		e.bad("settings file", "ls -l "+e.File, "%v", err)
	case info.Mode().Perm()&0o077 != 0:
		e.bad("settings file", "chmod 600 "+e.File, "others on this machine can read the secrets in %s (mode %04o)", e.File, info.Mode().Perm())
	default:
		e.well("settings file", "%s is readable by its owner alone", e.File)
	}
}

// oneName is the name of a single setting.
var oneName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func (e *examination) checkSettings() bool {
	s, err := config.Load(e.Environ, e.File)
	if err == nil {
		e.settings = s
		e.well("settings", "all are known and have good values")
		e.checkSecretFiles()
		return true
	}
	wrong, all := config.Errors(err)
	for _, w := range wrong {
		e.bad("settings", e.mendSetting(w.Name), "%v", w)
	}
	if !all {
		e.bad("settings", "${EDITOR:-vi} "+e.File, "%s", firstLine(err))
	}
	return false
}

// mendSetting takes a setting away, wherever it is: then its default counts.
func (e *examination) mendSetting(name string) string {
	if !oneName.MatchString(name) {
		return "${EDITOR:-vi} " + e.File
	}
	for _, pair := range e.Environ {
		if given, value, _ := strings.Cut(pair, "="); given == name && value != "" {
			return "unset " + name
		}
	}
	return fmt.Sprintf(`sed -i -E '/^(export )?%s=/d' %s`, name, e.File)
}

// checkSecretFiles looks at who can read the files that secrets come from. What a container
// platform mounts for this program alone has modes of its own.
func (e *examination) checkSecretFiles() {
	for _, file := range config.SecretFiles(e.Environ, e.File) {
		info, err := os.Stat(file)
		if err == nil && info.Mode().Perm()&0o007 != 0 && !strings.HasPrefix(file, "/run/secrets/") {
			e.bad("secret file", "chmod o-rwx "+quoted(file), "everybody on this machine can read %s", file)
		}
	}
}

func (e *examination) checkToken() {
	if e.settings.Token.Reveal() == "" {
		e.bad("token", "notifier setup", "there is none: get one from @BotFather in Telegram")
		return
	}
	if _, err := syntax.BotID(e.settings.Token); err != nil {
		e.bad("token", "notifier setup", "%v", err)
	}
}

// quoted is a path as a shell takes it.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
