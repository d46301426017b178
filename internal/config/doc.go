// Package config owns the settings: their names, units and defaults, how they are read from the
// environment and one file, which values are refused and in which words, how they are shown without
// secrets, and when their cron lines fall due.
//
// It does not own what a setting does. The process (internal/app) and the verbs read Settings and
// hand on what each package needs; no package below takes Settings itself. An error of this package
// names the setting and never holds a secret.
package config
