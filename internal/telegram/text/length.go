package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxUnits is the longest visible text, in UTF-16 code units. The documentation says 4096
	// characters (https://core.telegram.org/bots/api#sendmessage); the servers count code points
	// (td/telegram/MessageContent.cpp in github.com/tdlib/td). UTF-16 units are never fewer, so a
	// text within them is within both.
	maxUnits = 4096
	// maxBytes is the longest text before it is parsed, in bytes
	// (get_formatted_text in telegram-bot-api/Client.cpp of github.com/tdlib/telegram-bot-api).
	maxBytes = 32768
)

const ellipsis = "…"

// units is the length of a text in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, c := range s {
		n++
		if c > 0xffff {
			n++
		}
	}
	return n
}

// cut shortens a text to at most so many UTF-16 code units, the sign that says so included. It cuts
// between characters as people see them.
func cut(s string, most int) string {
	if units(s) <= most {
		return s
	}
	end, left := 0, most-units(ellipsis)
	for i, c := range s {
		size := units(string(c))
		if left < size {
			end = i
			break
		}
		left -= size
	}
	return strings.TrimRightFunc(s[:boundary(s, end)], unicode.IsSpace) + ellipsis
}

// boundary is the last place at or before i where a visible character ends. A text that has none
// is cut at i.
func boundary(s string, i int) int {
	for at := i; at > 0; {
		if !joined(s, at) {
			return at
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return i
}

const joiner = '\u200d'

// joined says that the characters on both sides of i belong together: an accent, the parts of an
// emoji, the two letters of a flag. It knows what names and notes are made of, not every rule of
// UAX #29.
func joined(s string, i int) bool {
	next, _ := utf8.DecodeRuneInString(s[i:])
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	switch {
	case next == joiner, last == joiner, unicode.In(next, unicode.M):
		return true
	case next >= 0x1f3fb && next <= 0x1f3ff, next >= 0xe0020 && next <= 0xe007f:
		return true // a skin colour, the tags of a flag
	case isFlagLetter(next) && isFlagLetter(last):
		before := 0
		for rest := s[:i]; ; before++ {
			c, size := utf8.DecodeLastRuneInString(rest)
			if !isFlagLetter(c) {
				break
			}
			rest = rest[:len(rest)-size]
		}
		return before%2 == 1
	}
	return false
}

func isFlagLetter(c rune) bool { return c >= 0x1f1e6 && c <= 0x1f1ff }

// blank says that Telegram would find nothing in a text (is_empty_string in td/telegram/misc.cpp of
// github.com/tdlib/td).
func blank(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return !isBlank(c) }) < 0
}

func isBlank(c rune) bool {
	switch {
	case unicode.IsSpace(c), c < ' ':
		return true
	case c >= 0x200b && c <= 0x200f, c >= 0x2028 && c <= 0x202e:
		return true // invisible, or removed by the server
	case c >= 0xe0000 && c <= 0xe007f:
		return true
	}
	return c == 0x180e || c == 0x2800 || c == 0xfeff || c == 0xfffc
}
