package bot

import (
	"regexp"
	"testing"
)

func TestMenuIsOneThatTelegramTakes(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	for language, commands := range Menu("en") {
		if len(commands) != len(menus["en"]) {
			t.Errorf("%q has %d commands", language, len(commands))
		}
		for i, c := range commands {
			if !name.MatchString(c.Command) || c.Command != menus["en"][i].Command {
				t.Errorf("%q: command %q", language, c.Command)
			}
			if n := len([]rune(c.Description)); n < 1 || n > 256 {
				t.Errorf("%q: %d characters about %s", language, n, c.Command)
			}
		}
	}
}

func TestMenuSpeaksTheShopsLanguageToEverybodyElse(t *testing.T) {
	for locale, want := range map[string]string{"en": "en", "ru": "ru", "ru_RU": "ru", "RU-ru": "ru", "de": "en", "": "en"} {
		if got := Menu(locale)[""][0].Description; got != menus[want][0].Description {
			t.Errorf("%q: got %q", locale, got)
		}
	}
}
