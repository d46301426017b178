package markup

import (
	_ "embed" // the list of top-level domains
	"strings"
	"sync"
	"unicode/utf8"
)

// topLevel are the top-level domains that need no scheme before them: those that
// tdlib 022d602 knows, one a line.
//
//go:embed tlds.txt
var topLevel string

var isTopLevel = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for name := range strings.Lines(topLevel) {
		known[strings.TrimSpace(name)] = true
	}
	return known
})

// isCommon tells whether a top-level domain is known. With only its first letter
// a capital it is the beginning of a sentence.
func isCommon(domain string) bool {
	lower := strings.ToLower(domain)
	_, first := utf8.DecodeRuneInString(domain)
	_, firstOfLower := utf8.DecodeRuneInString(lower)
	if lower != domain && lower[firstOfLower:] == domain[first:] {
		return false
	}
	return isTopLevel()[lower]
}

// isEmail tells whether a text is a mail address.
func isEmail(text string) bool {
	user, host, found := strings.Cut(text, "@")
	if !found || host == "" {
		return false
	}
	isPart := func(s string) bool {
		return strings.TrimFunc(s, func(r rune) bool { return r < utf8.RuneSelf && (isName(byte(r)) || r == '-') }) == ""
	}
	pieces := strings.Split(strings.ReplaceAll(user, "+", "."), ".")
	last := pieces[len(pieces)-1]
	if len(pieces) > 11 || last == "" || len(last) > 35 || !isPart(last) {
		return false
	}
	for _, piece := range pieces[:len(pieces)-1] {
		if len(piece) > 26 || !isPart(piece) {
			return false
		}
	}
	labels := strings.Split(host, ".")
	top := labels[len(labels)-1]
	if n := len(labels); n < 2 || n > 7 || len(top) < 2 || len(top) > 8 || strings.TrimFunc(top, isLetterRune) != "" {
		return false
	}
	for _, label := range labels[:len(labels)-1] {
		if n := len(label); n < 1 || n > 30 || !isPart(label) || !isAlphanumeric(label[0]) || !isAlphanumeric(label[n-1]) {
			return false
		}
	}
	return true
}

func isLetterRune(r rune) bool { return r < utf8.RuneSelf && isLetter(byte(r)) }

// usableLink is how many bytes of a text that looks like a web address are one;
// zero if none are.
func usableLink(text string) int {
	rest, hasScheme := text, false
	for _, scheme := range []string{"http://", "https://", "ftp://", "tonsite://"} {
		if n := len(scheme); len(text) >= n && strings.EqualFold(text[:n], scheme) {
			rest, hasScheme = text[n:], true
		}
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if i := strings.IndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	if strings.EqualFold(host, "teiegram.org") || !isHost(host, hasScheme) {
		return 0
	}
	return len(text) - len(path) + balanced(path)
}

// balanced is how much of a path is left when brackets that it does not open
// end it, and some characters at its end are no part of it.
func balanced(path string) int {
	var open [3]int
	end := 0
	for ; end < len(path); end++ {
		if i := strings.IndexByte("([{", path[end]); i >= 0 {
			open[i]++
		}
		if i := strings.IndexByte(")]}", path[end]); i >= 0 {
			if open[i]--; open[i] < 0 {
				break
			}
		}
	}
	for end > 0 && strings.IndexByte(pathEnds, path[end-1]) >= 0 {
		end--
	}
	return end
}

// isHost tells whether a host can be linked: an IPv4 address, or a domain with a
// top level that is known or, after a scheme, possible.
func isHost(host string, hasScheme bool) bool {
	labels := strings.Split(host, ".")
	isIPv4 := len(labels) == 4
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.HasSuffix(label, "-") {
			return false
		}
		isIPv4 = isIPv4 && isOctet(label)
	}
	top := labels[len(labels)-1]
	switch {
	case len(labels) == 1:
		return false
	case isIPv4:
		return true
	case strings.Trim(host, ".0123456789") == "", utf8.RuneCountInString(top) <= 1:
		return false
	case strings.HasPrefix(top, "xn--"):
		code := top[len("xn--"):]
		if len(code) < 2 || run(code, 0, isAlphanumeric) < len(code) {
			return false
		}
	case strings.ContainsAny(top, "_-"), !hasScheme && !isCommon(top):
		return false
	}
	return !strings.Contains(labels[len(labels)-2], "_")
}

// isOctet tells whether a label is a number from 0 to 255 without leading zeros.
func isOctet(label string) bool {
	n, whole := canonicalInteger(label, 32)
	return whole && n >= 0 && n <= 255
}
