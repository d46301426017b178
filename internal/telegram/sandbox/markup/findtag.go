package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isTag tells whether a character may be part of a hashtag.
func isTag(r rune) bool {
	return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) || r == '_' || r == '\u200c' || r == '\u00b7' ||
		r >= '\u0d80' && r <= '\u0dff'
}

// maxHashtag is the longest hashtag in characters.
const maxHashtag = 256

// hashtags finds #tags with at least one letter, with or without @name.
func hashtags(text string) []place {
	var found []place
	each(text, '#', func(begin int) int {
		if isTag(before(text, begin-1)) {
			return begin
		}
		end, position, characters, hasLetter := begin, begin, 0, false
		for position < len(text) {
			r, size := utf8.DecodeRuneInString(text[position:])
			if !isTag(r) {
				break
			}
			position += size
			if characters < maxHashtag {
				characters, end = characters+1, position
				hasLetter = hasLetter || unicode.IsLetter(r)
			}
		}
		if characters == 0 {
			return position
		}
		if end == position && after(text, end) == '@' {
			if name := min(run(text, end+1, isName), end+33); name-end-1 >= 3 {
				end, position = name, name
			}
		}
		if after(text, position) != '#' && hasLetter {
			found = append(found, place{begin - 1, end})
		}
		return position
	})
	return found
}

// cashtags finds $TAGS of up to eight capitals, with or without @name.
func cashtags(text string) []place {
	var found []place
	apartFrom := func(r rune) bool { return !isTag(r) && r != '$' }
	each(text, '$', func(begin int) int {
		if !apartFrom(before(text, begin-1)) {
			return begin
		}
		end := run(text, begin, func(c byte) bool { return c >= 'A' && c <= 'Z' })
		if strings.HasPrefix(text[begin:], "1INCH") {
			end = begin + len("1INCH")
		}
		if n := end - begin; n < 1 || n > 8 {
			return end
		}
		if after(text, end) == '@' {
			if name := run(text, end+1, isName); name-end-1 >= 3 && name-end-1 <= 32 {
				end = name
			}
		}
		if apartFrom(after(text, end)) {
			found = append(found, place{begin - 1, end})
		}
		return end
	})
	return found
}

// phoneNumberForm is a plus and 7 to 15 digits (ITU-T E.164), with single spaces,
// hyphens, dots or one pair of parentheses between them.
var phoneNumberForm = regexp.MustCompile(`\+[0-9](?:[ .-]?\(?[0-9]\)?){6,14}`)

// phoneNumbers finds numbers with a country code. Telegram's own rule is not
// published; it marks more.
func phoneNumbers(text string) []place {
	var found []place
	for _, p := range phoneNumberForm.FindAllStringIndex(text, -1) {
		if !isWord(before(text, p[0])) && !isWord(after(text, p[1])) {
			found = append(found, place{p[0], p[1]})
		}
	}
	return found
}

// bankCards finds numbers of 13 to 19 digits, with or without spaces and
// hyphens, that can be those of bank cards.
func bankCards(text string) []place {
	var found []place
	isPart := func(c byte) bool { return isDigit(c) || c == ' ' || c == '-' }
	for position := 0; ; {
		begin := strings.IndexFunc(text[position:], func(r rune) bool { return r >= '0' && r <= '9' })
		if begin < 0 {
			return found
		}
		begin += position
		if r := before(text, begin); begin > 0 && (strings.ContainsRune(".,+-_", r) || unicode.IsLetter(r)) {
			position = run(text, begin, isPart)
			continue
		}
		digits := ""
		for position = begin; position < len(text) && isPart(text[position]); position++ {
			if c := text[position]; isDigit(c) {
				digits += string(c)
			} else if c == ' ' && len(digits) >= 16 && len(digits) <= 19 && len(digits) == position-begin {
				break // a number in one piece
			}
		}
		end := strings.LastIndexAny(text[:position], "0123456789") + 1
		next := after(text, end)
		if len(digits) < 13 || len(digits) > 19 || end-begin > 2*len(digits)-1 ||
			next == '-' || next == '_' || unicode.IsLetter(next) || !isBankCard(digits) {
			continue
		}
		found = append(found, place{begin, end})
	}
}

// isBankCard checks the check digit (ISO/IEC 7812-1) and the lengths that the
// best known issuers have.
func isBankCard(digits string) bool {
	sum := 0
	for i := range len(digits) {
		digit := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			digit *= 2
		}
		sum += digit/10 + digit%10
	}
	if sum%10 != 0 {
		return false
	}
	n := len(digits)
	switch prefix := digits[:4]; {
	case prefix[0] == '4':
		return n == 13 || n == 16 || n == 18 || n == 19
	case prefix >= "5100" && prefix <= "5599", prefix >= "2221" && prefix <= "2720", prefix >= "2200" && prefix <= "2204":
		return n == 16
	case prefix[:2] == "34", prefix[:2] == "37":
		return n == 15
	case prefix[:2] == "62", prefix[:2] == "81":
		return n >= 16
	}
	return true
}
