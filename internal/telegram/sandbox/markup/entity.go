package markup

import (
	"strings"
	"unicode/utf8"
)

// Entity is the Bot API's MessageEntity. Offset and length count UTF-16 units
// of the visible text.
type Entity struct {
	Type          string `json:"type"`
	Offset        int    `json:"offset"`
	Length        int    `json:"length"`
	URL           string `json:"url,omitempty"`
	User          *User  `json:"user,omitempty"`
	Language      string `json:"language,omitempty"`
	CustomEmojiID string `json:"custom_emoji_id,omitempty"`
	UnixTime      int64  `json:"unix_time,omitempty"`
	DateFormat    string `json:"date_time_format,omitempty"`
}

// User is whom a text_mention mentions.
type User struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
}

// Same compares two entities, mentioned users by their id.
func (e Entity) Same(other Entity) bool {
	if e.User != nil && other.User != nil && *e.User == *other.User {
		e.User = other.User
	}
	return e == other
}

// Text is a visible text and what is marked in it.
type Text struct {
	Text     string
	Entities []Entity
}

// utf16Width is how many UTF-16 units a character takes.
func utf16Width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// UTF16Length is the length of a text in UTF-16 units.
func UTF16Length(text string) int {
	length := 0
	for _, r := range text {
		length += utf16Width(r)
	}
	return length
}

// visible builds a visible text and counts its UTF-16 units on the way.
type visible struct {
	strings.Builder
	utf16 int
}

// take copies the character at the beginning of source and returns its size in
// bytes.
func (v *visible) take(source string) int {
	r, size := utf8.DecodeRuneInString(source)
	v.WriteString(source[:size])
	v.utf16 += utf16Width(r)
	return size
}

// put adds one character.
func (v *visible) put(r rune) {
	v.WriteRune(r)
	v.utf16 += utf16Width(r)
}

// from is the text added since a position in bytes.
func (v *visible) from(position int) string { return v.String()[position:] }
