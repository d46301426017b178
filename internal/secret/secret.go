// Package secret owns a type for texts that must not be seen: the bot's token, keys, passwords and
// addresses that hold one. It knows nothing of where they come from or what they open.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Hidden is what a Value shows of itself.
const Hidden = "***"

// Value is a text that cannot be printed, logged or marshalled by accident. Its zero value is
// the empty secret.
type Value struct{ text string }

// New hides text. White space around it is dropped, as a file with a secret often ends in
// a newline.
func New(text string) Value { return Value{text: strings.TrimSpace(text)} }

// Reveal gives the text itself. It is meant for the one place that needs it.
func (s Value) Reveal() string { return s.text }

// String implements fmt.Stringer and shows nothing.
func (s Value) String() string { return Hidden }

// GoString implements fmt.GoStringer and shows nothing.
func (s Value) GoString() string { return Hidden }

// Format implements fmt.Formatter: no verb and no flag shows anything.
func (s Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

// MarshalText implements encoding.TextMarshaler and shows nothing.
func (s Value) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// MarshalJSON implements json.Marshaler and shows nothing.
func (s Value) MarshalJSON() ([]byte, error) { return []byte(`"` + Hidden + `"`), nil }

// LogValue implements slog.LogValuer and shows nothing.
func (s Value) LogValue() slog.Value { return slog.StringValue(Hidden) }

// Scrub removes the secret from a text that somebody else wrote.
func (s Value) Scrub(text string) string {
	if s.text == "" {
		return text
	}
	return strings.ReplaceAll(text, s.text, Hidden)
}
