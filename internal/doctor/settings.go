package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"notifier/internal/config"
	"notifier/internal/telegram/syntax"
)

// checkSettingsFile looks at who can read the secrets.
func (e *examination) checkSettingsFile() {
	const check = "settings file"
	if words := e.Source.PassedWords(); words != "" {
		e.well(check, "%s", words)
	}
	file := e.Source.Name()
	info, err := os.Stat(file)
	switch {
	case e.Source.File == "", errors.Is(err, fs.ErrNotExist):
		e.well(check, "there is none; all settings come from the environment")
	case err != nil:
		e.bad(check, "ls -l "+quoted(file), "%v", err)
	case info.Mode().Perm()&0o077 != 0:
		e.bad(check, "chmod 600 "+quoted(file), "others on this machine can read the secrets in %s (mode %04o)", file, info.Mode().Perm())
	default:
		e.well(check, "%s is readable by its owner alone", file)
	}
}

// oneName is the name of a single setting.
var oneName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func (e *examination) checkSettings() bool {
	s, err := config.Load(e.Environ, e.Source)
	if err == nil {
		e.settings = s
		e.well("settings", "all are known and have good values")
		e.checkSecretFiles()
		return true
	}
	wrong, all := config.Errors(err)
	for _, w := range wrong {
		e.bad("settings", e.mend(w), "%v", w)
	}
	if !all {
		e.bad("settings", e.edit(), "%s", firstLine(err))
	}
	return false
}

// edit opens the settings file.
func (e *examination) edit() string { return "${EDITOR:-vi} " + quoted(e.Source.Name()) }

// mend leads to a setting that is wrong, wherever it is. It takes nothing away: what a person has
// written, they change. Only a key can be made for them.
func (e *examination) mend(w *config.Error) string {
	switch {
	case w.Reason == config.NeedsKey && !e.inEnvironment("NOTIFIER_API_KEY"):
		return e.makeKey()
	case oneName.MatchString(w.Name) && e.inEnvironment(w.Name):
		return "printenv " + w.Name
	}
	return e.edit()
}

func (e *examination) inEnvironment(name string) bool {
	return slices.ContainsFunc(e.Environ, func(pair string) bool {
		given, value, _ := strings.Cut(pair, "=")
		return given == name && value != ""
	})
}

// makeKey adds a random API key to the settings file. The line begins with a line break, since the
// file's last one may lack its own.
func (e *examination) makeKey() string {
	const random = `$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')`
	return fmt.Sprintf(`(umask 077; printf '\nNOTIFIER_API_KEY=%%s\n' "%s" >> %s)`, random, quoted(e.Source.Name()))
}

// checkSecretFiles looks at who can read the files that secrets come from. What a container
// platform mounts for this program alone has modes of its own.
func (e *examination) checkSecretFiles() {
	for _, file := range config.SecretFiles(e.Environ, e.Source.File) {
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
