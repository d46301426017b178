package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

const (
	// File is the settings file of the working folder.
	File = ".env"
	// ServerFile is the settings file of a machine that runs notifier as its service.
	ServerFile = "/etc/notifier/notifier.env"
	// serverFolder is where the service of ServerFile keeps its database.
	serverFolder = "/var/lib/notifier"
)

// Source is where settings are read from besides the environment.
type Source struct {
	File   string // the one settings file; it need not exist
	Passed string // a settings file that would have counted without File; empty: none
	// searched are the files that were looked for.
	searched []string
	// folder is what a relative path of the database begins at; empty: the working folder.
	folder string
}

// Find chooses the settings file: the one that is named; else the server's, where there is one; else
// that of the working folder, unless it is another program's.
func Find(named string) Source { return find(named, ServerFile) }

func find(named, server string) Source {
	s := Source{File: File, searched: []string{server, absolute(File)}}
	switch {
	case named != "":
		s.File, s.searched = named, []string{absolute(named)}
		s.Passed = firstOther(named, server, File)
	case exists(server):
		s.File, s.folder = server, serverFolder
		s.Passed = firstOther(server, File)
	case exists(File) && !isOurs(File):
		s.File, s.Passed = "", File
	}
	return s
}

// firstOther is the first of the files that exists and is not the one in use.
func firstOther(used string, files ...string) string {
	one, err := os.Stat(used)
	for _, file := range files {
		other, errOther := os.Stat(file)
		if errOther == nil && (err != nil || !os.SameFile(one, other)) {
			return absolute(file)
		}
	}
	return ""
}

// exists says that something is there, though it may not be readable: then reading it says so.
func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// ourLine begins a line of a settings file that only notifier has a use for.
var ourLine = regexp.MustCompile(`(?m)^\s*(export\s+)?(TELEGRAM_BOT_TOKEN|NOTIFIER_)`)

// isOurs tells our settings file from another program's, which may hold a DATABASE_URL of its own.
func isOurs(file string) bool {
	text, err := os.ReadFile(file)
	return err != nil || ourLine.Match(text) // what cannot be read is told when the settings are
}

func absolute(file string) string {
	if path, err := filepath.Abs(file); err == nil {
		return path
	}
	return file
}

// Name is the file that new settings are written to.
func (s Source) Name() string {
	if s.File == "" {
		return File
	}
	return s.File
}

// String says where settings are read from, or where they were looked for.
func (s Source) String() string {
	if s.File != "" && exists(s.File) {
		return "settings are read from " + absolute(s.File)
	}
	words := "no settings file was found: looked for"
	for i, file := range s.searched {
		if i > 0 {
			words += " and"
		}
		words += " " + file
	}
	return words
}

// PassedWords say which file was left alone, and why; empty: none.
func (s Source) PassedWords() string {
	switch {
	case s.Passed == "":
		return ""
	case s.File == "":
		return fmt.Sprintf("%s is not read: it names neither TELEGRAM_BOT_TOKEN nor a NOTIFIER_ setting", absolute(s.Passed))
	}
	return fmt.Sprintf("%s is not read: settings are in %s", absolute(s.Passed), absolute(s.File))
}

// place makes a relative path of the database mean the same from any folder.
func (s Source) place(database string) string {
	if s.folder == "" || filepath.IsAbs(database) {
		return database
	}
	return filepath.Join(s.folder, database)
}
