package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/joho/godotenv"

	"notifier/internal/secret"
	"notifier/internal/telegram/syntax"
)

// Defaults are those of an empty environment.
func Defaults() Settings {
	s, err := parse(map[string]string{})
	if err != nil {
		panic(err) // a test holds the defaults against their own rules
	}
	return s
}

// Load reads the settings: the environment comes before the file, an empty value counts as
// none, and a secret may be in a file of its own.
func Load(environ []string, source Source) (Settings, error) {
	values, err := readDotenv(source.File)
	if err != nil {
		return Settings{}, err
	}
	unknown := unknownNames(slices.Collect(maps.Keys(values)), source.File, func(string) bool { return false })
	fromOutside := map[string]string{}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			fromOutside[name] = value
		}
	}
	unknown = append(unknown, unknownNames(slices.Collect(maps.Keys(fromOutside)), "the environment", injected)...)
	if len(unknown) > 0 {
		return Settings{}, errors.Join(unknown...)
	}
	maps.Copy(values, fromOutside)
	useCredentials(values)
	tokenFile := values["TELEGRAM_BOT_TOKEN_FILE"]
	if err := readSecretFiles(values); err != nil {
		return Settings{}, err
	}
	s, err := parse(values)
	s.tokenFile = tokenFile
	if !strings.Contains(s.Database, "://") {
		s.Database = source.place(s.Database)
	}
	return s, err
}

// useCredentials names, for each secret that has no value, the file in which systemd hands it over:
// TELEGRAM_BOT_TOKEN is in telegram-bot-token (https://systemd.io/CREDENTIALS/).
func useCredentials(values map[string]string) {
	folder := values["CREDENTIALS_DIRECTORY"]
	if folder == "" {
		return
	}
	for _, e := range (Settings{}).entries() {
		if !e.secret || values[e.name] != "" || values[e.name+"_FILE"] != "" {
			continue
		}
		file := filepath.Join(folder, strings.ReplaceAll(strings.ToLower(e.name), "_", "-"))
		if _, err := os.Stat(file); err == nil {
			values[e.name+"_FILE"] = file
		}
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readDotenv reads the file, if there is one. Its error repeats nothing of it: a secret may be there.
func readDotenv(file string) (map[string]string, error) {
	if file == "" {
		return map[string]string{}, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	values, err := godotenv.UnmarshalBytes(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	for name := range values {
		if !variableName.MatchString(name) { // such as `NAME value`, with a colon somewhere in the value
			err = errors.Join(err, errors.New("no name"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: every line must be NAME=value or a # comment; put a value with spaces, # or $ in single quotes", file)
	}
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	return values, nil
}

// injectedName are names that container platforms give to every program beside a service called
// notifier (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
var injectedName = regexp.MustCompile(`^NOTIFIER_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?|NAME|ENV_[A-Za-z0-9_]+)$`)

func injected(name string) bool { return injectedName.MatchString(name) }

// unknownNames refuses names that look like ours and are not: a setting with a slip of the pen would not count.
func unknownNames(names []string, where string, ignore func(string) bool) []error {
	known := map[string]bool{}
	for _, e := range (Settings{}).entries() {
		known[e.name] = true
		if e.secret {
			known[e.name+"_FILE"] = true
		}
	}
	var unknown []error
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, "NOTIFIER_") && !known[name] && !ignore(name) {
			unknown = append(unknown, &Error{name, "is no setting of notifier (found in " + where + ")"})
		}
	}
	return unknown
}

// readSecretFiles replaces NAME_FILE by the NAME that the file holds.
func readSecretFiles(values map[string]string) error {
	for _, e := range (Settings{}).entries() {
		file := values[e.name+"_FILE"]
		if !e.secret || file == "" {
			continue
		}
		if values[e.name] != "" {
			return &Error{e.name, "is given twice, as it is and as a file: remove it or " + e.name + "_FILE, in the environment or in .env"}
		}
		secret, err := readSecret(file)
		if err != nil {
			return &Error{e.name + "_FILE", err.Error()}
		}
		values[e.name] = secret.Reveal()
	}
	return nil
}

func readSecret(file string) (secret.Value, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return secret.Value{}, err // it names the file
	}
	s := secret.New(string(text))
	if s.Reveal() == "" {
		return s, fmt.Errorf("the file %s is empty", file)
	}
	return s, nil
}

// parse turns values into settings and checks them.
func parse(values map[string]string) (Settings, error) {
	var s Settings
	err := env.ParseWithOptions(&s, env.Options{
		Environment: values,
		FuncMap: map[reflect.Type]env.ParserFunc{
			secretType: func(v string) (any, error) { return secret.New(v), nil },
		},
	})
	if err != nil {
		return s, namedErrors(err)
	}
	if values[staffChat] != "" && s.StaffChatID == 0 { // the zero of the field stands for none
		return s, &Error{staffChat, staffChatForm}
	}
	return s, s.validate()
}

const (
	staffChat     = "NOTIFIER_STAFF_CHAT_ID"
	staffChatForm = "must be " + syntax.ChatID
)

// namedErrors tells the library's errors, which name fields, by the names of the settings.
func namedErrors(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	named := make([]error, 0, len(all.Errors))
	for _, err := range all.Errors {
		var wrong env.ParseError
		if !errors.As(err, &wrong) {
			named = append(named, err)
			continue
		}
		f, _ := reflect.TypeFor[Settings]().FieldByName(wrong.Name)
		named = append(named, &Error{f.Tag.Get("env"), "must be " + formOf(f.Type)})
	}
	return errors.Join(named...)
}

func formOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 30s, 5m or 72h"
	case t.Kind() == reflect.Float64:
		return "a number such as 28 or 0.5"
	case t.Name() == "Level":
		return "debug, info, warn or error"
	}
	return "a whole number"
}
