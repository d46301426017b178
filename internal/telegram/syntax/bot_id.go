package syntax

import (
	"errors"
	"strings"

	"notifier/internal/secret"
)

// errToken says what a token must look like, and nothing of the one that was given.
var errToken = errors.New("the bot token must have the form <digits>:<letters, digits, _ and ->, as BotFather gives it")

// maxBotIDDigits keeps the id within an int64.
const maxBotIDDigits = 18

// BotID is the id of the bot that a token belongs to: the digits before its colon. Its error
// never holds any part of the token.
func BotID(token secret.Value) (string, error) {
	id, key, found := strings.Cut(token.Reveal(), ":")
	if !found || key == "" || id == "" || len(id) > maxBotIDDigits {
		return "", errToken
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return "", errToken
		}
	}
	for _, c := range key {
		if !isTokenKeyRune(c) {
			return "", errToken
		}
	}
	return id, nil
}

func isTokenKeyRune(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}
