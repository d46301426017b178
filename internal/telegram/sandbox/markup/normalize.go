package markup

import (
	"strings"
	"unicode"
)

// maxEntities is how many entities a message keeps; further ones are ignored.
const maxEntities = 100

// Normalize does to a text what the server does before it is stored: control
// characters become spaces, some characters vanish, both ends are trimmed.
// Entities move along; those left without text are dropped.
func (f Text) Normalize() Text {
	kept := make([]rune, 0, len(f.Text))
	positions := make([]int, 1, len(f.Text)+1) // old UTF-16 offset -> new one
	width := 0
	for _, r := range f.Text {
		for range utf16Width(r) - 1 {
			positions = append(positions, width)
		}
		if cleaned, stays := cleanRune(r); stays {
			kept = append(kept, cleaned)
			width += utf16Width(cleaned)
		}
		positions = append(positions, width)
	}
	text := string(kept)
	right := strings.TrimRightFunc(text, unicode.IsSpace)
	trimmed := strings.TrimLeftFunc(right, unicode.IsSpace)
	begin := UTF16Length(right) - UTF16Length(trimmed)
	end := begin + UTF16Length(trimmed)

	result := Text{Text: trimmed}
	for _, e := range f.Entities {
		first := min(max(positions[e.Offset], begin), end)
		last := min(max(positions[e.Offset+e.Length], begin), end)
		if e.Offset, e.Length = first-begin, last-first; e.Length > 0 {
			result.Entities = append(result.Entities, e)
		}
	}
	sortEntities(result.Entities)
	if len(result.Entities) > maxEntities {
		result.Entities = result.Entities[:maxEntities]
	}
	return result
}

// cleanRune is what becomes of one character.
func cleanRune(r rune) (cleaned rune, stays bool) {
	switch {
	case r == '\r',
		r >= '\u2028' && r <= '\u202e', // separators, embeddings and overrides
		r == '\u0333', r == '\u033f', r == '\u030a':
		return 0, false
	case r < ' ' && r != '\n':
		return ' ', true
	default:
		return r, true
	}
}
