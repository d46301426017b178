package telegram

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// hidden is what a Secret shows of itself.
const hidden = "***"

// Secret is a text that cannot be printed, logged or marshalled by accident. Its zero value is
// the empty secret.
type Secret struct{ text string }

// NewSecret hides text. White space around it is dropped, as a file with a secret often ends in
// a newline.
func NewSecret(text string) Secret { return Secret{text: strings.TrimSpace(text)} }

// Reveal gives the text itself. It is meant for the one place that needs it.
func (s Secret) Reveal() string { return s.text }

// String implements fmt.Stringer and shows nothing.
func (s Secret) String() string { return hidden }

// GoString implements fmt.GoStringer and shows nothing.
func (s Secret) GoString() string { return hidden }

// Format implements fmt.Formatter: no verb and no flag shows anything.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText implements encoding.TextMarshaler and shows nothing.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON implements json.Marshaler and shows nothing.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// LogValue implements slog.LogValuer and shows nothing.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// scrub removes the secret from a text that somebody else wrote.
func (s Secret) scrub(text string) string {
	if s.text == "" {
		return text
	}
	return strings.ReplaceAll(text, s.text, hidden)
}

// errToken says what a token must look like, and nothing of the one that was given.
var errToken = errors.New("the bot token must have the form <digits>:<letters, digits, _ and ->, as BotFather gives it")

// maxBotIDDigits keeps the id within an int64.
const maxBotIDDigits = 18

// BotID is the id of the bot that a token belongs to: the digits before its colon. Its error
// never holds any part of the token.
func BotID(token Secret) (string, error) {
	id, key, found := strings.Cut(token.text, ":")
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
