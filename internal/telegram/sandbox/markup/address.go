package markup

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// address is a web address in its parts, as tdlib's HttpUrl reads it.
type address struct {
	https    bool
	userinfo string
	host     string // lower case
	ipv6     bool
	port     int    // zero means that none is given
	query    string // begins with a slash
}

// parseAddress reads an address; without a scheme it is http. Its errors are
// Telegram's words.
func parseAddress(text string) (address, error) {
	var a address
	rest := text
	if i := strings.IndexAny(text, ":/?#@[]"); i >= 0 && strings.HasPrefix(text[i:], "://") {
		switch strings.ToLower(text[:i]) {
		case "http":
		case "https":
			a.https = true
		default:
			return a, parseError("Unsupported URL protocol")
		}
		rest = text[i+len("://"):]
	}
	authority, query := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, query = rest[:i], rest[i:]
	}
	userAndHost, err := a.takePort(authority)
	if err != nil {
		return a, err
	}
	at := strings.LastIndexByte(userAndHost, '@')
	a.userinfo, a.host = userAndHost[:max(at, 0)], userAndHost[at+1:]
	if err := a.checkHost(); err != nil {
		return a, err
	}
	a.query = addressQuery(query)
	return a, nil
}

// takePort takes the port from the end of an authority and returns the rest.
func (a *address) takePort(authority string) (rest string, err error) {
	colon := strings.LastIndexAny(authority, ":]@")
	if colon <= 0 || authority[colon] != ':' {
		return authority, nil
	}
	port, whole := canonicalInteger(strings.TrimLeft(authority[colon+1:], "0"), 32)
	if !whole || port <= 0 || port > 65535 {
		return "", parseError("Wrong port number specified in the URL")
	}
	a.port = int(port)
	return authority[:colon], nil
}

func (a *address) checkHost() error {
	if h := a.host; strings.HasPrefix(h, "[") && strings.HasSuffix(h, "]") {
		ip, err := netip.ParseAddr(h[1:max(1, len(h)-1)])
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return parseError("Wrong IPv6 address specified in the URL")
		}
		a.ipv6 = true
	}
	switch a.host {
	case "":
		return parseError("URL host is empty")
	case ".":
		return parseError("Host is invalid")
	}
	a.host = strings.ToLower(a.host)
	if a.ipv6 {
		if strings.Trim(a.host, "[]:.0123456789abcdef") != "" {
			return parseError("Wrong IPv6 URL host")
		}
		return nil
	}
	if err := checkAddressPart(a.host, "host", ""); err != nil {
		return err
	}
	return checkAddressPart(a.userinfo, "userinfo", ":")
}

// checkAddressPart looks for characters that RFC 3986 does not allow in a part.
// Those beyond ASCII are let through.
func checkAddressPart(part, name, more string) error {
	allowed := ".-_!$,~*'();&+=" + more
	for i := 0; i < len(part); i++ {
		c := part[i]
		switch {
		case isAlphanumeric(c), c >= 0x80, strings.IndexByte(allowed, c) >= 0:
		case c == '%':
			if i+2 >= len(part) || !isHexDigit(part[i+1]) || !isHexDigit(part[i+2]) {
				return parseErrorf("Wrong percent-encoded symbol in URL %s", name)
			}
			i += 2
		default:
			return parseErrorf("Disallowed character in URL %s", name)
		}
	}
	return nil
}

// addressQuery is the path, query and fragment with a slash before them and
// spaces and control characters escaped.
func addressQuery(query string) string {
	for query != "" && isSpace(query[len(query)-1]) {
		query = query[:len(query)-1]
	}
	if query == "" {
		return "/"
	}
	var b strings.Builder
	if query[0] != '/' {
		b.WriteByte('/')
	}
	for i := range len(query) {
		if query[i] <= ' ' {
			fmt.Fprintf(&b, "%%%02X", query[i])
			continue
		}
		b.WriteByte(query[i])
	}
	return b.String()
}

// String is the address as Telegram stores it.
func (a address) String() string {
	text := "http://"
	if a.https {
		text = "https://"
	}
	if a.userinfo != "" {
		text += a.userinfo + "@"
	}
	text += a.host
	if a.port > 0 {
		text += ":" + strconv.Itoa(a.port)
	}
	return text + a.query
}

func isHexDigit(c byte) bool { return isDigit(c) || isHexLetter(c) }
