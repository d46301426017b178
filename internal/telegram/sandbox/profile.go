package sandbox

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// profileText is a text about the bot that it can set for each language.
type profileText struct {
	field string // of the parameter and of the result
	most  int    // characters
	words string // Telegram's, for one that is too long
}

var (
	botName             = profileText{"name", 64, "BOT_TITLE_INVALID"}
	botDescription      = profileText{"description", 512, "BOT_DESCRIPTION_INVALID"}
	botShortDescription = profileText{"short_description", 120, "BOT_SHORT_DESCRIPTION_INVALID"}
)

// set makes the method that sets a text; an empty one goes back to the usual.
func (t profileText) set(c *call) (any, *apiError) {
	text := c.params.values[t.field]
	if utf8.RuneCountInString(text) > t.most {
		return nil, badRequest("%s", t.words)
	}
	key := t.field + "/" + c.params.values["language_code"]
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if text == "" {
		delete(c.bot.profile, key)
		return true, nil
	}
	if len(c.bot.profile) < maxCommandPlaces {
		c.bot.profile[key] = text
	}
	return true, nil
}

// get gives a text in a language, or the one for all.
func (t profileText) get(c *call) (any, *apiError) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	text, known := c.bot.profile[t.field+"/"+c.params.values["language_code"]]
	if !known {
		text, known = c.bot.profile[t.field+"/"]
	}
	if !known && t == botName {
		text = c.bot.user().FirstName
	}
	return map[string]string{t.field: text}, nil
}

// menuButton is the Bot API's MenuButton.
type menuButton struct {
	Type   string      `json:"type"`
	Text   string      `json:"text,omitempty"`
	WebApp *webAppInfo `json:"web_app,omitempty"`
}

type webAppInfo struct {
	URL string `json:"url"`
}

func setChatMenuButton(c *call) (any, *apiError) {
	button, err := readMenuButton(c.params.values["menu_button"])
	if err != nil {
		return nil, telegramRefusal(err)
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if key := strconv.FormatInt(c.params.integer("chat_id", 0), 10); len(c.bot.menus) < maxCommandPlaces {
		c.bot.menus[key] = button
	}
	return true, nil
}

func getChatMenuButton(c *call) (any, *apiError) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	button, known := c.bot.menus[strconv.FormatInt(c.params.integer("chat_id", 0), 10)]
	if !known || button.Type == "default" {
		button, known = c.bot.menus["0"]
	}
	if !known || button.Type == "default" {
		button = menuButton{Type: "commands"}
	}
	return button, nil
}

func readMenuButton(text string) (menuButton, error) {
	button := menuButton{Type: "default"}
	if text == "" {
		return button, nil
	}
	if !json.Valid([]byte(text)) {
		return button, telegramError("Can't parse menu button JSON object")
	}
	err := button.read([]byte(text))
	if err != nil {
		return button, telegramErrorf("Can't parse menu button: %v", err)
	}
	return button, nil
}

func (b *menuButton) read(raw []byte) error {
	object, err := parseObject(raw)
	if err != nil {
		return telegramError("MenuButton must be an Object")
	}
	if b.Type, err = object.requiredText("type"); err != nil {
		return err
	}
	switch b.Type {
	case "default", "commands":
		return nil
	case "web_app":
	default:
		return telegramError("MenuButton has unsupported type")
	}
	if b.Text, err = object.requiredText("text"); err != nil {
		return err
	}
	app, err := object.requiredObject("web_app")
	if err != nil {
		return err
	}
	b.WebApp = &webAppInfo{}
	b.WebApp.URL, err = app.requiredText("url")
	return err
}

// logOut logs the bot out: its calls are refused until the sandbox starts afresh.
func logOut(c *call) (any, *apiError) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.bot.loggedOut = true
	return true, nil
}

// closeBot closes the bot's instance; it opens again with the next call.
func closeBot(c *call) (any, *apiError) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.bot.endPoll("terminated by close request")
	return true, nil
}

// getUserProfilePhotos finds none: customers have none.
func getUserProfilePhotos(c *call) (any, *apiError) {
	if c.params.integer("user_id", 0) <= 0 {
		return nil, badRequest("invalid user_id specified")
	}
	return map[string]any{"total_count": 0, "photos": []any{}}, nil
}
