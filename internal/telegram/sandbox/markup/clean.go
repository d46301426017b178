package markup

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// cleaner copies a text as the server stores it and moves entities along.
type cleaner struct {
	out     strings.Builder
	offset  int // in the source, in UTF-16 units
	skipped int // units left out so far
	open    []openEntity
	next    int // the first entity that has not begun
}

// openEntity is an entity that covers what is being copied.
type openEntity struct {
	*Entity
	skippedBefore int
}

// clean makes control characters spaces and leaves some characters out. The
// entities, which must be in order, are moved; one that does not begin and end
// with a character of the text is an error in Telegram's words.
func clean(text string, entities []Entity) (string, error) {
	var c cleaner
	for position, r := range text {
		if err := c.arrive(entities, position); err != nil {
			return "", err
		}
		c.copy(r)
	}
	if err := c.arrive(entities, len(text)); err != nil {
		return "", err
	}
	if c.next < len(entities) {
		return "", parseErrorf("Entity begins after the end of the text at UTF-16 offset %d", entities[c.next].Offset)
	}
	if n := len(c.open); n > 0 {
		e := c.open[n-1]
		return "", parseErrorf("Entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d",
			e.Offset, e.end())
	}
	return tameDirections(c.out.String()), nil
}

// arrive ends and begins the entities that do so at a character.
func (c *cleaner) arrive(entities []Entity, position int) error {
	for len(c.open) > 0 {
		e := c.open[len(c.open)-1]
		if c.offset < e.end() {
			break
		}
		if c.offset != e.end() {
			return parseErrorf("Entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at byte offset %d",
				e.Offset, position)
		}
		e.Offset -= e.skippedBefore
		e.Length -= c.skipped - e.skippedBefore
		c.open = c.open[:len(c.open)-1]
	}
	for c.next < len(entities) && c.offset >= entities[c.next].Offset {
		if c.offset != entities[c.next].Offset {
			return parseErrorf("Entity begins in a middle of a UTF-16 symbol at byte offset %d", position)
		}
		c.open = append(c.open, openEntity{&entities[c.next], c.skipped})
		c.next++
	}
	return nil
}

// copy copies one character, or what becomes of it.
func (c *cleaner) copy(r rune) {
	c.offset += utf16Width(r)
	switch {
	case r == '\r',
		r >= '\u2028' && r <= '\u202e', // separators, embeddings and overrides
		r == '\u0333', r == '\u033f', r == '\u030a':
		c.skipped += utf16Width(r)
	case r < ' ' && r != '\n':
		c.out.WriteByte(' ')
	default:
		c.out.WriteRune(r)
	}
}

// tameDirections makes each left-to-right or right-to-left mark that another one
// follows a zero width non-joiner.
func tameDirections(text string) string {
	if !strings.ContainsAny(text, "\u200e\u200f") {
		return text
	}
	isMark := func(r rune) bool { return r == '\u200e' || r == '\u200f' }
	var b strings.Builder
	for i, r := range text {
		if next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); isMark(r) && isMark(next) {
			r = '\u200c'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isBlank tells whether a text shows nothing: it has only spaces, of whatever
// width, and characters without any.
func isBlank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !isInvisible(r) }) < 0
}

// invisible characters, besides ranges (tdlib, misc.cpp, strip_empty_characters).
var invisible = []rune{
	' ', '\n', '\u00a0', '\u1680', '\u180e', '\u202e', '\u202f', '\u205f', '\u2800', '\u3000', '\ufeff', '\ufffc',
}

func isInvisible(r rune) bool {
	return r >= '\u2000' && r <= '\u200f' || r >= '\U000e0000' && r <= '\U000e007f' || slices.Contains(invisible, r)
}
