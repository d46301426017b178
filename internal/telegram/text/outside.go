package text

import (
	"strings"
	"unicode"
)

// line prepares a value from outside for one line of a text, at most so many UTF-16 code units
// long; 0: as long as it is. It is shown as it came, but it cannot break out of its place: no new
// line, no control character, no reversed direction beyond its end. It is not escaped yet.
func line(s string, most int) string {
	s = strings.ReplaceAll(clean(s), "\n", " ")
	if most > 0 {
		s = cut(s, most)
	}
	return isolate(s)
}

// paragraph is line for a value that may have several lines.
func paragraph(s string, most int) string {
	s = clean(s)
	if most > 0 {
		s = cut(s, most)
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = isolate(lines[i])
	}
	return strings.Join(lines, "\n")
}

// clean makes control characters visible. Telegram would turn them into spaces or drop them.
func clean(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\t", " ").Replace(s)
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || !unicode.IsControl(c):
			return c
		case c < ' ':
			return 0x2400 + c // the picture of this control character
		case c == 0x7f:
			return 0x2421
		}
		return unicode.ReplacementChar
	}, s)
}

// The characters that change direction, see https://www.unicode.org/reports/tr9/.
const (
	lre, rle, pdf, lro, rlo = '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'
	lri, rli, fsi, pdi      = '\u2066', '\u2067', '\u2068', '\u2069'
	alm, rlm                = '\u061c', '\u200f'
)

// isolate keeps the direction of a line to itself: a name in Hebrew does not reorder the number
// after it, and an override in it ends where it ends. A line without any of this stays as it is.
func isolate(s string) string {
	if strings.IndexFunc(s, turns) < 0 {
		return s
	}
	_, strays := unclosed(s, nil)
	// A closing mark too many would close our isolate: it gets one of its own.
	opened := []rune(strings.Repeat(string(pdi), strays))
	closing, _ := unclosed(s, opened)
	return string(fsi) + strings.Repeat(string(fsi), strays) + s + string(closing) + string(pdi)
}

func turns(c rune) bool {
	return c >= lre && c <= rlo || c >= lri && c <= pdi || c == alm || c == rlm || unicode.In(c, rightToLeft...)
}

var rightToLeft = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan,
	unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Mende_Kikakui, unicode.Yezidi,
}

// unclosed returns what would close all that is open at the end of s, in that order, and how many
// closing isolates had nothing to close. opened is what was open before.
func unclosed(s string, opened []rune) (closing []rune, strays int) {
	open := append([]rune(nil), opened...)
	for _, c := range s {
		switch c {
		case lre, rle, lro, rlo:
			open = append(open, pdf)
		case lri, rli, fsi:
			open = append(open, pdi)
		case pdf:
			if n := len(open); n > 0 && open[n-1] == pdf {
				open = open[:n-1]
			}
		case pdi:
			if at := lastIndex(open, pdi); at >= 0 {
				open = open[:at] // with all embeddings inside
			} else {
				strays++
			}
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		closing = append(closing, open[i])
	}
	return closing, strays
}

func lastIndex(list []rune, c rune) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == c {
			return i
		}
	}
	return -1
}
