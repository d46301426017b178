package markup

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isLinkSymbol tells whether a character beyond ASCII may be part of an address:
// of the general punctuation only joiners and dashes are.
func isLinkSymbol(r rune) bool {
	if r >= '\u2000' && r <= '\u206f' {
		return r == '\u200c' || r == '\u200d' || r >= '\u2010' && r <= '\u2015'
	}
	return !unicode.Is(unicode.Z, r)
}

func isPathSymbol(r rune) bool { return !strings.ContainsRune("\n<>\"«»", r) && isLinkSymbol(r) }

func isUserSymbol(r rune) bool {
	return !strings.ContainsRune("\n/[]{}()'`<>\"@«»", r) && isLinkSymbol(r)
}

func isDomainSymbol(r rune) bool {
	if r < '\u00c0' {
		return r < utf8.RuneSelf && (isName(byte(r)) || r == '.' || r == '-' || r == '~')
	}
	return isLinkSymbol(r)
}

func isSchemeSymbol(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlphanumeric(byte(r)) || r == '+' || r == '-'
	}
	return !unicode.Is(unicode.Z, r)
}

// forward is where the characters of a kind that begin at a position end.
func forward(text string, begin int, is func(rune) bool) int {
	if i := strings.IndexFunc(text[begin:], func(r rune) bool { return !is(r) }); i >= 0 {
		return begin + i
	}
	return len(text)
}

// backward is where the characters of a kind that end at a position begin.
func backward(text string, end int, is func(rune) bool) int {
	for end > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:end])
		if !is(r) {
			break
		}
		end -= size
	}
	return end
}

// pathEnds are characters that do not end a path.
const pathEnds = ".:;,('?!`"

// pathEnd is where the path of an address whose host ends at a position ends.
func pathEnd(text string, begin int) int {
	if begin == len(text) || !strings.ContainsRune("/?#", rune(text[begin])) {
		return begin
	}
	end := forward(text, begin+1, isPathSymbol)
	for end > begin+1 && strings.IndexByte(pathEnds, text[end-1]) >= 0 {
		end--
	}
	if text[begin] == '/' || end > begin+1 {
		return end
	}
	return begin
}

// ownLinks finds links of Telegram's own schemes.
func ownLinks(text string) []place {
	var found []place
	each(text, ':', func(after int) int {
		colon := after - 1
		if !strings.HasPrefix(text[after:], "//") {
			return after
		}
		head := strings.ToLower(text[:colon])
		begin := colon
		switch {
		case strings.HasSuffix(head, "tg"):
			begin -= len("tg")
		case strings.HasSuffix(head, "ton"), strings.HasSuffix(head, "tonsite"):
			begin -= len("ton") // tdlib marks so much of tonsite, too
		default:
			return after
		}
		host := after + len("//")
		end := min(run(text, host, func(c byte) bool { return isName(c) || c == '-' }), host+253)
		if end > host {
			end = pathEnd(text, end)
			found = append(found, place{begin, end})
		}
		return end
	})
	return found
}

// webAddresses finds mail and web addresses, which have a dot in them.
func webAddresses(text string) (emails, links []place) {
	for begin := 0; ; {
		dot := strings.IndexByte(text[begin:], '.')
		if dot < 0 || begin+dot+1 == len(text) {
			return emails, links
		}
		p, next, usable := around(text[begin:], dot)
		candidate := place{begin + p.begin, begin + p.end}
		begin += next
		if !usable {
			continue
		}
		found := candidate.of(text)
		if address, isMail := strings.CutPrefix(found, "mailto:"); isMail && isEmail(address) {
			emails = append(emails, place{candidate.end - len(address), candidate.end})
		} else if isEmail(found) {
			emails = append(emails, candidate)
		} else if n := usableLink(found); n > 0 {
			links = append(links, place{candidate.begin, candidate.begin + n})
		}
	}
}

// around looks for an address with a dot at a place: where it lies, where to go
// on and whether it can be one.
func around(text string, dot int) (p place, next int, usable bool) {
	if text[dot+1] == ' ' {
		return place{}, dot + 2, false
	}
	begin := backward(text, dot, isDomainSymbol)
	end := forward(text, dot, func(r rune) bool { return r == '@' || isDomainSymbol(r) })
	hasAt := strings.Contains(text[dot:end], "@")
	if hasAt {
		begin = backward(text, begin, isUserSymbol)
	}
	end = pathEnd(text, portEnd(text, end))
	for end > dot+1 && text[end-1] == '.' {
		end--
	}
	begin, usable = addressBegin(text, begin, hasAt)
	next = end
	switch {
	case usable:
		usable = end > dot+1
		for next < len(text) && text[next] == '.' {
			next++
		}
	default:
		for text[next-1] != '.' {
			next--
		}
	}
	return place{begin, end}, max(next, dot+1), usable
}

// portEnd is where the port after a host ends, if there is a possible one.
func portEnd(text string, host int) int {
	if host == len(text) || text[host] != ':' {
		return host
	}
	end := run(text, host+1, isDigit)
	port, err := strconv.ParseUint(text[host+1:end], 10, 16)
	if err != nil || port == 0 {
		return host
	}
	return end
}

// addressBegin is where an address whose host begins at a position begins: user
// and scheme belong to it. It is false when what stands before forbids one.
func addressBegin(text string, host int, hasAt bool) (begin int, usable bool) {
	usable, begin = true, host
	if host > 0 && text[host-1] == '@' {
		begin = backward(text, host-1, isUserSymbol)
		usable = !hasAt && begin < host-1
	}
	if begin == 0 {
		return begin, usable
	}
	head := text[:begin]
	if len(head) < 6 || !strings.HasSuffix(head, "://") {
		r := before(text, begin)
		return begin, usable && !isWord(r) && r != '/' && r != '#' && r != '@'
	}
	colon := begin - len("://")
	scheme := strings.ToLower(text[backward(text, colon, isSchemeSymbol):colon])
	for _, known := range []string{"http", "https", "ftp", "tonsite"} {
		if strings.HasSuffix(scheme, known) && scheme != "shttp" && scheme != "tftp" && scheme != "sftp" {
			return colon - len(known), usable
		}
	}
	return begin, false
}
