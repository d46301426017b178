package markup

import (
	"math"
	"strconv"
	"strings"
)

// linkTo makes an entity a link, or a mention of a user for tg://user?id=….
// It is false for an address that Telegram does not take for a link.
func (e Entity) linkTo(link string) (Entity, bool) {
	if id, isUser := UserOfLink(link); isUser {
		return e.mentioning(id), true
	}
	checked, err := CheckLink(link)
	e.Type, e.URL = kindNames[textLink], checked
	return e, err == nil
}

// mentioning makes an entity a mention of a user.
func (e Entity) mentioning(id int64) Entity {
	e.Type = kindNames[textMention]
	e.User = &User{ID: id, FirstName: "Customer " + strconv.FormatInt(id, 10)}
	return e
}

// maxUserID is the highest user id (tdlib, UserId.h).
const maxUserID = 1<<40 - 1

// UserOfLink reads the user of a tg://user?id=… link. It is false for any other
// link, and for an id that no user can have.
func UserOfLink(link string) (id int64, isUser bool) {
	parameters, found := tgParameters(strings.ToLower(link), "user")
	if !found {
		return 0, false
	}
	value, _ := firstParameter(parameters, "id")
	id, whole := canonicalInteger(value, 64)
	return id, whole && id > 0 && id <= maxUserID
}

// tgParameters gives what follows the question mark of a tg link with a host.
func tgParameters(link, host string) (parameters string, found bool) {
	if len(link) < len("tg:") || !strings.EqualFold(link[:len("tg:")], "tg:") {
		return "", false
	}
	rest := strings.TrimPrefix(link[len("tg:"):], "//")
	if len(rest) < len(host) || !strings.EqualFold(rest[:len(host)], host) {
		return "", false
	}
	rest = strings.TrimPrefix(rest[len(host):], "/")
	parameters, found = strings.CutPrefix(rest, "?")
	parameters, _, _ = strings.Cut(parameters, "#")
	return parameters, found
}

// firstParameter finds the first value of a name among key=value pairs.
func firstParameter(parameters, name string) (value string, found bool) {
	for pair := range strings.SplitSeq(parameters, "&") {
		if key, value, _ := strings.Cut(pair, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// emojiOfLink reads the custom emoji of a tg://emoji?id=… link.
func emojiOfLink(link string) (id string, isEmoji bool) {
	parameters, found := tgParameters(link, "emoji")
	if !found {
		return "", false
	}
	value, _ := firstParameter(parameters, "id")
	n, whole := canonicalInteger(value, 64)
	return value, whole && n != 0
}

// timeOfLink reads the time of a tg://time?unix=…&format=… link. Of several
// values the last counts.
func timeOfLink(link string) (unix int64, format string, isTime bool) {
	parameters, found := tgParameters(link, "time")
	if !found {
		return 0, "", false
	}
	for pair := range strings.SplitSeq(parameters, "&") {
		switch key, value, _ := strings.Cut(pair, "="); key {
		case "unix":
			n, whole := canonicalInteger(value, 32)
			if !whole || n <= 0 {
				return 0, "", false
			}
			unix = n
		case "format":
			format = value
		}
	}
	format, err := DateFormat(format)
	return unix, format, unix != 0 && err == nil
}

// CheckLink gives a link as Telegram stores it: http, https, tg, ton or tonsite;
// without a scheme it is http. Its error says in Telegram's words why a link is
// none. A web address needs a host with a dot, so localhost is none.
func CheckLink(link string) (string, error) {
	scheme, rest := "", link
	for _, own := range []string{"tg", "ton", "tonsite"} {
		if n := len(own) + 1; len(link) >= n && strings.EqualFold(link[:n], own+":") {
			scheme, rest = own, strings.TrimPrefix(link[n:], "//")
		}
	}
	a, err := parseAddress(rest)
	switch {
	case err != nil:
		return "", err
	case scheme != "":
		return ownLink(scheme, rest, a)
	case !strings.Contains(a.host, ".") && !a.ipv6:
		return "", parseError("Wrong HTTP URL")
	}
	return a.String(), nil
}

// ownLink gives a link of one of Telegram's own schemes.
func ownLink(scheme, rest string, a address) (string, error) {
	web := len(rest) >= len("http://") && strings.EqualFold(rest[:len("http://")], "http://")
	if web || a.https || a.userinfo != "" || a.port != 0 || a.ipv6 {
		if scheme == "tg" {
			return "", parseError("Wrong tg URL")
		}
		return "", parseError("Wrong ton URL")
	}
	for i := range len(a.host) {
		c := a.host[i]
		if !isAlphanumeric(c) && c != '-' && c != '_' && !(scheme == "tonsite" && c == '.') {
			return "", parseError("Unallowed characters in URL host")
		}
	}
	query := a.query
	if strings.HasPrefix(query, "/?") {
		query = query[1:]
	}
	return scheme + "://" + a.host + query, nil
}

// canonicalInteger reads a whole number of so many bits that is written without
// a plus or leading zeros.
func canonicalInteger(text string, bits int) (n int64, whole bool) {
	n, err := strconv.ParseInt(text, 10, bits)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// looseInteger reads the whole number of 32 bits at the beginning of a text,
// zero if there is none. One that does not fit is negative, so that it is no
// time.
func looseInteger(text string) int64 {
	end := 0
	if strings.HasPrefix(text, "-") {
		end++
	}
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	switch {
	case end == 0 || text[:end] == "-":
		return 0
	case err != nil || n > math.MaxInt32 || n < math.MinInt32:
		return -1
	}
	return n
}

// DateFormat gives the format of a date as Telegram stores it: r for a relative
// one, else some of w, d or D, t or T in this order. Its error is Telegram's.
func DateFormat(format string) (string, error) {
	if format == "r" || format == "R" {
		return "r", nil
	}
	if i := strings.IndexFunc(format, func(r rune) bool { return !strings.ContainsRune("tTdDwW", r) }); i >= 0 {
		return "", parseError("Invalid date format used")
	}
	canonical := ""
	if strings.ContainsAny(format, "wW") {
		canonical = "w"
	}
	// The short form wins over the long one.
	for _, form := range []string{"dD", "tT"} {
		if i := strings.IndexAny(form, format); i >= 0 && format != "" {
			canonical += form[i : i+1]
		}
	}
	return canonical, nil
}
