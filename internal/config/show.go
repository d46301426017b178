package config

import (
	"fmt"
	"io"
	"reflect"

	"notifier/internal/secret"
)

// Print shows the settings, one a line, without secrets.
func (s Settings) Print(w io.Writer) error {
	for _, e := range s.entries() {
		if _, err := fmt.Fprintf(w, "%s=%s\n", e.name, e.value); err != nil {
			return err
		}
	}
	return nil
}

// entry is one setting by name, for printing and for tests.
type entry struct {
	name     string
	fallback string // the default
	value    string // as it may be shown
	secret   bool
}

// entries lists all settings.
func (s Settings) entries() []entry {
	var list []entry
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("env")
		if name == "" {
			continue
		}
		e := entry{name: name, fallback: f.Tag.Get("envDefault"), secret: f.Type == secretType}
		switch value := v.Field(i).Interface().(type) {
		case secret.Value:
			if value.Reveal() != "" {
				e.value = value.String()
			}
		case int64:
			if value != 0 {
				e.value = fmt.Sprint(value)
			}
		default:
			e.value = fmt.Sprint(value)
		}
		list = append(list, e)
	}
	return list
}

var secretType = reflect.TypeFor[secret.Value]()
