package markup

import (
	"net/url"
	"strconv"
	"strings"
)

// linkTo makes an entity a link, or a mention of a user for tg://user?id=….
func (e Entity) linkTo(address string) (Entity, bool) {
	if id, isUser := UserOfLink(address); isUser {
		e.Type = "text_mention"
		e.User = &User{ID: id, FirstName: "Customer " + strconv.FormatInt(id, 10)}
		return e, true
	}
	checked, usable := CheckedLink(address)
	e.Type, e.URL = "text_link", checked
	return e, usable
}

func UserOfLink(address string) (id int64, isUser bool) {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Scheme, "tg") || !strings.EqualFold(u.Host, "user") {
		return 0, false
	}
	id, err = strconv.ParseInt(u.Query().Get("id"), 10, 64)
	return id, err == nil && id > 0
}

// CheckedLink is an address as Telegram would store it: http, https, tg, ton or
// tonsite; without a scheme it is http. A web address needs a host with a dot,
// so localhost is none.
func CheckedLink(address string) (string, bool) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.ContainsAny(address, " \n\"<>") {
		return "", false
	}
	switch u.Scheme {
	case "tg", "ton", "tonsite":
		return address, true
	case "http", "https":
	default:
		return "", false
	}
	if !strings.Contains(strings.Trim(u.Hostname(), "."), ".") {
		return "", false
	}
	if u.Path == "" {
		u.Path = "/"
		return u.String(), true
	}
	return address, true
}
