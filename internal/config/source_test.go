package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes a file and makes its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhichSettingsFileCounts(t *testing.T) {
	const ours, foreign = "NOTIFIER_RATE_BOT=20\n", "DATABASE_URL=mysql://shop\n#NOTIFIER_RATE_BOT=1\n"
	for _, c := range []struct {
		name                 string
		server, local, named string // contents; empty: there is none
		file, passed, says   string
	}{
		{"none", "", "", "", ".env", "", "no settings file was found"},
		{"the working folder's", "", ours, "", ".env", "", "settings are read from"},
		{"another program's", "", foreign, "", "", ".env", "no settings file was found"},
		{"the server's", ours, "", "", "server.env", "", "settings are read from"},
		{"the server's before the working folder's", ours, ours, "", "server.env", ".env", "server.env"},
		{"the server's beside another program's", ours, foreign, "", "server.env", ".env", "server.env"},
		{"a named one", ours, ours, ours, "my.env", "server.env", "my.env"},
		{"a named one beside the working folder's", "", ours, ours, "my.env", ".env", "my.env"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(t.TempDir())
			server, named := filepath.Join(dir, "server.env"), ""
			if c.server != "" {
				put(t, server, c.server)
			}
			if c.local != "" {
				put(t, File, c.local)
			}
			if c.named != "" {
				named = filepath.Join(dir, "my.env")
				put(t, named, c.named)
			}
			s := find(named, server)
			if filepath.Base(s.File) != c.file && s.File != c.file {
				t.Errorf("reads %q, want %q", s.File, c.file)
			}
			if (s.Passed == "") != (c.passed == "") || c.passed != "" && filepath.Base(s.Passed) != c.passed {
				t.Errorf("passes over %q, want %q", s.Passed, c.passed)
			}
			if (s.PassedWords() != "") != (c.passed != "") || !strings.Contains(s.PassedWords(), c.passed) {
				t.Errorf("says of it %q", s.PassedWords())
			}
			if !strings.Contains(s.String(), c.says) {
				t.Errorf("says %q, want %q", s, c.says)
			}
		})
	}
}

// With the server's file a relative path of the database means the same from any folder.
func TestTheServersDatabaseIsFoundFromAnyFolder(t *testing.T) {
	server := filepath.Join(t.TempDir(), "server.env")
	put(t, server, "DATABASE_URL=shop.db\n")
	s, err := Load(nil, find("", server))
	if err != nil || s.Database != "/var/lib/notifier/shop.db" {
		t.Errorf("%s, %v", s.Database, err)
	}
}

func TestSystemdsCredentialsCountWhereASettingHasNoValue(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "telegram-bot-token"), "1:credential\n")
	put(t, filepath.Join(dir, "notifier-api-key"), "key\n")
	for token, environ := range map[string][]string{
		"1:credential": {"CREDENTIALS_DIRECTORY=" + dir},
		"2:env":        {"CREDENTIALS_DIRECTORY=" + dir, "TELEGRAM_BOT_TOKEN=2:env"},
	} {
		s, err := Load(environ, Source{})
		if err != nil || s.Token.Reveal() != token || s.APIKey.Reveal() != "key" {
			t.Errorf("%v: token %s, key %s, %v", environ, s.Token.Reveal(), s.APIKey.Reveal(), err)
		}
	}
	// A token that was changed is read again.
	s, err := Load([]string{"CREDENTIALS_DIRECTORY=" + dir}, Source{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "telegram-bot-token"), "1:changed\n")
	if again, err := s.ReadToken(); err != nil || again.Reveal() != "1:changed" {
		t.Errorf("read again: %v", err)
	}
}
