package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"

	"notifier/internal/config"
	"notifier/internal/telegram/syntax"

	"context"
)

// checkSettingsFile looks at who can read the secrets.
func (d *doctor) checkSettingsFile() {
	info, err := os.Stat(config.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.well("settings file", "there is none; all settings come from the environment")
	case err != nil:
		d.bad("settings file", "ls -l "+config.File, "%v", err)
	case info.Mode().Perm()&0o077 != 0:
		d.bad("settings file", "chmod 600 "+config.File, "others on this machine can read the secrets in %s (mode %04o)", config.File, info.Mode().Perm())
	default:
		d.well("settings file", "%s is readable by its owner alone", config.File)
	}
}

// oneName is the name of a single setting.
var oneName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func (d *doctor) checkSettings() bool {
	s, err := config.Load(d.environ, config.File)
	if err == nil {
		d.settings = s
		d.well("settings", "all are known and have good values")
		d.checkSecretFiles()
		return true
	}
	wrong, all := config.Errors(err)
	for _, w := range wrong {
		d.bad("settings", d.mendSetting(w.Name), "%v", w)
	}
	if !all {
		d.bad("settings", "${EDITOR:-vi} "+config.File, "%s", firstLine(err))
	}
	return false
}

// mendSetting takes a setting away, wherever it is: then its default counts.
func (d *doctor) mendSetting(name string) string {
	if !oneName.MatchString(name) {
		return "${EDITOR:-vi} " + config.File
	}
	for _, pair := range d.environ {
		if given, value, _ := strings.Cut(pair, "="); given == name && value != "" {
			return "unset " + name
		}
	}
	return fmt.Sprintf(`sed -i -E '/^(export )?%s=/d' %s`, name, config.File)
}

// checkSecretFiles looks at who can read the files that secrets come from. What a container
// platform mounts for this program alone has modes of its own.
func (d *doctor) checkSecretFiles() {
	for _, file := range config.SecretFiles(d.environ, config.File) {
		info, err := os.Stat(file)
		if err == nil && info.Mode().Perm()&0o007 != 0 && !strings.HasPrefix(file, "/run/secrets/") {
			d.bad("secret file", "chmod o-rwx "+quoted(file), "everybody on this machine can read %s", file)
		}
	}
}

func (d *doctor) checkToken() {
	if d.settings.Token.Reveal() == "" {
		d.bad("token", "notifier setup", "there is none: get one from @BotFather in Telegram")
		return
	}
	if _, err := syntax.BotID(d.settings.Token); err != nil {
		d.bad("token", "notifier setup", "%v", err)
	}
}

// checkService looks for who answers where the service should.
func (d *doctor) checkService(ctx context.Context) {
	const check = "service"
	if strings.HasSuffix(d.settings.Listen, ":0") {
		d.well(check, "it listens at a port that the system chooses, so it is not asked")
		return
	}
	address := urlOf(d.settings.Listen)
	status, body, err := fetch(ctx, address+"/livez")
	switch {
	case err != nil:
		d.well(check, "nobody listens at %s: it is not running", d.settings.Listen)
	case status == http.StatusOK && strings.TrimSpace(string(body)) == `{"status":"ok"}`:
		d.well(check, "it answers at %s", address)
	default:
		d.bad(check, "ss -ltnp", "another program listens at %s: end it, or choose another NOTIFIER_LISTEN", d.settings.Listen)
	}
}

// quoted is a path as a shell takes it.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
