package sandbox

import (
	"encoding/json"
	"regexp"
	"unicode/utf8"
)

// getChat shows a chat. A chat that does not take messages can still be looked
// at, except one the bot does not know or was kicked from.
func getChat(c *call) (any, *apiError) {
	chatID, err := c.params.chatParameter()
	if err != nil {
		return nil, err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	chat := c.world.chat(chatID)
	switch chat.state {
	case ChatUnknown, ChatKicked, ChatMigrated:
		return nil, chat.access("")
	}
	return chat.object(), nil
}

// The bounds of setMyCommands.
const (
	maxCommands           = 100
	maxCommandDescription = 256
)

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// setMyCommands checks the commands and forgets them: no method of the sandbox
// shows them again.
func setMyCommands(c *call) (any, *apiError) {
	var commands []struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	if err := json.Unmarshal([]byte(c.params.values["commands"]), &commands); err != nil {
		return nil, badRequest("can't parse commands: expected an Array of BotCommand")
	}
	if len(commands) > maxCommands {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, command := range commands {
		if !commandName.MatchString(command.Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := utf8.RuneCountInString(command.Description); n < 1 || n > maxCommandDescription {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	return true, nil
}
