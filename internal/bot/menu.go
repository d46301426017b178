package bot

import (
	"strings"

	"notifier/internal/telegram"
	"notifier/internal/telegram/updates"
)

// The commands that are understood, as the menu shows them. Telegram shows these words itself, so
// they are no templates.
var menus = map[string][]telegram.Command{
	"en": {
		{Command: "orders", Description: "My open orders"},
		{Command: "help", Description: "What this bot does"},
		{Command: "stop", Description: "No more messages"},
	},
	"ru": {
		{Command: "orders", Description: "Мои открытые заказы"},
		{Command: "help", Description: "Что умеет этот бот"},
		{Command: "stop", Description: "Больше не присылать сообщения"},
	},
}

// Menu is the commands menu: in each language for those who use it, in that of the locale for all
// others, and in English when the locale's has none.
func Menu(locale string) updates.Menu {
	m := updates.Menu{}
	for language, commands := range menus {
		m[language] = commands
	}
	language, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), "-")
	m[""] = menus["en"]
	if home, ok := menus[language]; ok {
		m[""] = home
	}
	return m
}
