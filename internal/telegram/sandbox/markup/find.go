package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is a part of a text, in bytes.
type place struct{ begin, end int }

func (p place) of(text string) string { return text[p.begin:p.end] }

// Find gives what Telegram marks in a text by itself, in order and apart from
// each other: mentions, commands, hashtags, cashtags, bank cards, links and
// addresses as tdlib does, phone numbers by a rule of our own, because those
// are marked by Telegram's closed servers.
func Find(text string) []Entity {
	var found []Entity
	add := func(k kind, places []place) {
		for _, p := range places {
			found = append(found, Entity{Type: kindNames[k], Offset: p.begin, Length: p.end - p.begin})
		}
	}
	add(mention, mentions(text))
	add(botCommand, commands(text))
	add(hashtag, hashtags(text))
	add(cashtag, cashtags(text))
	add(bankCard, bankCards(text))
	add(webAddress, ownLinks(text))
	emails, links := webAddresses(text)
	add(email, emails)
	add(webAddress, links)
	sortEntities(found)
	found = apart(found)
	for _, p := range phoneNumbers(text) {
		e := Entity{Type: kindNames[phoneNumber], Offset: p.begin, Length: p.end - p.begin}
		if !slices.ContainsFunc(found, func(f Entity) bool { return f.Offset < e.end() && e.Offset < f.end() }) {
			found = append(found, e)
		}
	}
	sortEntities(found)
	inUnits(text, found)
	return found
}

// inUnits turns offsets and lengths in bytes into UTF-16 units.
func inUnits(text string, found []Entity) {
	position, units := 0, 0
	for i := range found {
		e := &found[i]
		marked := text[e.Offset:e.end()]
		units += UTF16Length(text[position:e.Offset])
		position = e.end()
		e.Offset, e.Length = units, UTF16Length(marked)
		units += e.Length
	}
}

// before and after are the characters next to a position, zero at the ends.
func before(text string, position int) rune {
	if position == 0 {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(text[:position])
	return r
}

func after(text string, position int) rune {
	if position == len(text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text[position:])
	return r
}

// isWord tells whether a character is part of a word: a letter, a number of any
// kind or an underscore.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

func isName(c byte) bool { return isAlphanumeric(c) || c == '_' }

// run is where the bytes of a kind that begin at a position end.
func run(text string, begin int, is func(byte) bool) int {
	for begin < len(text) && is(text[begin]) {
		begin++
	}
	return begin
}

// each calls a function for each sign in a text, with the position after it.
// The function returns where to go on.
func each(text string, sign byte, look func(after int) int) {
	for position := 0; ; {
		i := strings.IndexByte(text[position:], sign)
		if i < 0 {
			return
		}
		position = look(position + i + 1)
	}
}

// shortNames are the usernames of three letters that exist.
var shortNames = []string{"gif", "nft", "pic", "ufc", "vid"}

// mentions finds @names of four or more letters, or one of shortNames.
func mentions(text string) []place {
	var found []place
	each(text, '@', func(begin int) int {
		if isWord(before(text, begin-1)) {
			return begin
		}
		end := run(text, begin, isName)
		name := text[begin:end]
		long := len(name) >= 4 && len(name) <= 32
		if (long || slices.Contains(shortNames, strings.ToLower(name))) && !isWord(after(text, end)) {
			found = append(found, place{begin - 1, end})
		}
		return end
	})
	return found
}

// commands finds /commands with or without @name.
func commands(text string) []place {
	var found []place
	apartFrom := func(r rune) bool { return !isWord(r) && r != '/' && r != '<' && r != '>' }
	each(text, '/', func(begin int) int {
		if !apartFrom(before(text, begin-1)) {
			return begin
		}
		end := run(text, begin, isName)
		if n := end - begin; n < 1 || n > 64 {
			return end
		}
		if after(text, end) == '@' {
			name := end + 1
			end = run(text, name, isName)
			if n := end - name; n < 3 || n > 32 {
				return end
			}
		}
		if apartFrom(after(text, end)) {
			found = append(found, place{begin - 1, end})
		}
		return end
	})
	return found
}
