package sandbox

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of setMyCommands.
const (
	maxCommands           = 100
	maxCommandName        = 32
	maxCommandDescription = 256
)

var commandName = regexp.MustCompile(`^[a-z0-9_]+$`)

// botCommandObject is the Bot API's BotCommand.
type botCommandObject struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// setMyCommands sets the commands of a scope and language; without any it
// deletes them.
func setMyCommands(c *call) (any, *apiError) {
	commands, err := readCommands(c.params.values["commands"])
	if err != nil {
		return nil, telegramRefusal(err)
	}
	place, err := c.params.commandPlace()
	if err != nil {
		return nil, telegramRefusal(err)
	}
	for i := range commands {
		if err := commands[i].judge(); err != nil {
			return nil, telegramRefusal(err)
		}
	}
	if len(commands) > maxCommands {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if len(commands) == 0 {
		delete(c.bot.commands, place)
		return true, nil
	}
	_, replaced := c.bot.commands[place]
	if !replaced && len(c.bot.commands) >= maxCommandPlaces {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	c.bot.commands[place] = commands
	return true, nil
}

// maxCommandPlaces is for how many scopes and languages a bot's commands are
// kept; Telegram's bound is not known.
const maxCommandPlaces = 100

func getMyCommands(c *call) (any, *apiError) {
	place, err := c.params.commandPlace()
	if err != nil {
		return nil, telegramRefusal(err)
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return append([]botCommandObject{}, c.bot.commands[place]...), nil
}

func deleteMyCommands(c *call) (any, *apiError) {
	place, err := c.params.commandPlace()
	if err != nil {
		return nil, telegramRefusal(err)
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	delete(c.bot.commands, place)
	return true, nil
}

func readCommands(text string) ([]botCommandObject, error) {
	if text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, telegramError("Can't parse commands JSON object")
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, telegramError("Expected an Array of BotCommand")
	}
	var commands []botCommandObject
	for _, raw := range list {
		command, err := readCommand(raw)
		if err != nil {
			return nil, telegramErrorf("Can't parse BotCommand: %v", err)
		}
		commands = append(commands, command)
	}
	return commands, nil
}

func readCommand(raw json.RawMessage) (botCommandObject, error) {
	var command botCommandObject
	object, err := parseObject(raw)
	if err != nil {
		return command, errors.New("expected an Object")
	}
	if command.Command, err = object.requiredText("command"); err != nil {
		return command, err
	}
	command.Description, err = object.requiredText("description")
	return command, err
}

// judge checks a command and takes a slash from its beginning (tdlib,
// BotCommand.cpp). What the name consists of, Telegram's servers check.
func (o *botCommandObject) judge() error {
	o.Command = strings.TrimPrefix(strings.TrimSpace(o.Command), "/")
	o.Description = strings.TrimSpace(o.Description)
	switch n := utf8.RuneCountInString(o.Description); {
	case o.Command == "":
		return telegramError("Command must be non-empty")
	case utf8.RuneCountInString(o.Command) > maxCommandName:
		return telegramErrorf("Command length must not exceed %d", maxCommandName)
	case n == 0:
		return telegramError("Command description must be non-empty")
	case n > maxCommandDescription:
		return telegramErrorf("Command description length must not exceed %d", maxCommandDescription)
	case !commandName.MatchString(o.Command):
		return errors.New("BOT_COMMAND_INVALID")
	}
	return nil
}

// commandScopes are the types of BotCommandScope; those of a chat come last.
var commandScopes = []string{
	"default", "all_private_chats", "all_group_chats", "all_chat_administrators",
	"chat", "chat_administrators", "chat_member",
}

// commandPlace names the scope and language that commands are for.
func (p params) commandPlace() (string, error) {
	language := p.values["language_code"]
	if language != "" && (len(language) != 2 || language != strings.ToLower(language)) {
		return "", telegramError("Invalid language code specified")
	}
	scope, err := readScope(p.values["scope"])
	return scope + "/" + language, err
}

func readScope(text string) (string, error) {
	if text == "" {
		return "default", nil
	}
	if !json.Valid([]byte(text)) {
		return "", telegramError("Can't parse BotCommandScope JSON object")
	}
	name, err := scopeName([]byte(text))
	if err != nil {
		return "", telegramErrorf("Can't parse BotCommandScope: %v", err)
	}
	return name, nil
}

func scopeName(raw []byte) (string, error) {
	object, err := parseObject(raw)
	if err != nil {
		return "", telegramError("BotCommandScope must be an Object")
	}
	kind, err := object.requiredText("type")
	if err != nil {
		return "", err
	}
	i := slices.Index(commandScopes, kind)
	if i < 0 {
		return "", telegramError("Unsupported type specified")
	}
	if i < slices.Index(commandScopes, "chat") {
		return kind, nil
	}
	chatID, err := object.requiredText("chat_id")
	if err != nil {
		return "", err
	}
	if chatID == "" {
		return "", telegramError("Empty chat_id specified")
	}
	if kind != "chat_member" {
		return kind + " " + chatID, nil
	}
	userID, err := object.requiredLong("user_id")
	if err == nil && userID <= 0 {
		err = telegramError("Invalid user_id specified")
	}
	return kind + " " + chatID + " " + strconv.FormatInt(userID, 10), err
}
