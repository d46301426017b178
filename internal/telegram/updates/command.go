package updates

import (
	"regexp"
	"strings"
	"unicode"
)

// command is a message that begins with one.
type command struct {
	name     string // in small letters, without the slash
	bot      string // whom it names with @; empty when nobody
	argument string // the first word behind it
}

// A command is up to 32 letters, digits and underscores; names of bots have the same characters
// (https://core.telegram.org/bots/features#commands). Clients send what a person types, so capitals
// and any white space count as the same.
var commandWord = regexp.MustCompile(`^/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?$`)

// parseCommand reads a message. Text before the slash makes it an ordinary message.
func parseCommand(text string) (command, bool) {
	words := strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || c == 0 })
	if len(words) == 0 {
		return command{}, false
	}
	found := commandWord.FindStringSubmatch(words[0])
	if found == nil {
		return command{}, false
	}
	c := command{name: strings.ToLower(found[1]), bot: found[2]}
	if len(words) > 1 {
		c.argument = words[1]
	}
	return c, true
}

// isFor says whether the command is for the bot with this name. As long as the name is not known,
// what somebody writes to us alone is for us, and what names a bot in a group is not.
func (c command) isFor(username string, private bool) bool {
	if c.bot == "" {
		return true
	}
	if username == "" {
		return private
	}
	return strings.EqualFold(c.bot, username)
}
