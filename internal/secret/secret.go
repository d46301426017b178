// Package secret owns a type for texts that must not be seen: the bot's token, keys, passwords and
// addresses that hold one. It knows nothing of where they come from or what they open.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
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

// leastScrubbed is how long a piece of a secret must be to be removed; a shorter one is a word by chance.
const leastScrubbed = 8

// Scrub removes the secret from a text that somebody else wrote: whole, or any longer piece of it, as it
// is, percent-encoded, or in other cases of its letters. What stands before a colon, such as the id of a
// bot, is no secret by itself.
func (s Value) Scrub(text string) string {
	if s.text == "" {
		return text
	}
	whole := lower(s.text)
	read, at := decoded(text)
	hidden := make([]bool, len(text))
	for i := 0; i < len(read); {
		n := longest(read[i:], whole)
		if n == 0 {
			i++
			continue
		}
		for j := at[i]; j < at[i+n]; j++ {
			hidden[j] = true
		}
		i += n
	}
	return without(text, hidden)
}

// longest is how many bytes at the beginning of text are the whole secret or a piece of what follows its
// colon.
func longest(text, whole string) int {
	if strings.HasPrefix(text, whole) {
		return len(whole)
	}
	key := whole[strings.LastIndexByte(whole, ':')+1:]
	if len(text) < leastScrubbed || !strings.Contains(key, text[:leastScrubbed]) {
		return 0
	}
	n := leastScrubbed
	for n < len(text) && strings.Contains(key, text[:n+1]) {
		n++
	}
	return n
}

// decoded is a text in small letters without percent-encoding, and where each of its bytes begins in the
// original; one more entry is the end of that.
func decoded(text string) (read string, at []int) {
	var b strings.Builder
	for i := 0; i < len(text); {
		at = append(at, i)
		c, size := text[i], 1
		if c == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c, size = byte(n), 3
			}
		}
		b.WriteByte(c)
		i += size
	}
	return lower(b.String()), append(at, len(text))
}

// lower changes no byte but the letters of ASCII, so that places stay what they are.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// without replaces each run of hidden bytes.
func without(text string, hidden []bool) string {
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(Hidden)
		}
	}
	return b.String()
}
