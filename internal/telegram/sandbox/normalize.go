package sandbox

import (
	"strings"
	"unicode"
)

// maxEntities is how many entities a message keeps; further ones are ignored.
const maxEntities = 100

// normalize does to a text what the server does before it is stored: control
// characters become spaces, some characters vanish, both ends are trimmed.
// Entities move along; those left without text are dropped.
func (f formatted) normalize() formatted {
	kept := make([]rune, 0, len(f.text))
	positions := make([]int, 1, len(f.text)+1) // old UTF-16 offset -> new one
	width := 0
	for _, r := range f.text {
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
	begin := utf16Length(right) - utf16Length(trimmed)
	end := begin + utf16Length(trimmed)

	result := formatted{text: trimmed}
	for _, e := range f.entities {
		first := min(max(positions[e.Offset], begin), end)
		last := min(max(positions[e.Offset+e.Length], begin), end)
		if e.Offset, e.Length = first-begin, last-first; e.Length > 0 {
			result.entities = append(result.entities, e)
		}
	}
	sortEntities(result.entities)
	if len(result.entities) > maxEntities {
		result.entities = result.entities[:maxEntities]
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
