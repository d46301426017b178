package text

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Button opens an address when it is pressed.
type Button struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// maxButtons is how many buttons a keyboard takes, and maxButtonURL the longest address in bytes
// that is let through; Telegram's own bounds are not published.
const (
	maxButtons   = 100
	maxButtonURL = 2048
)

// checkButtons says with a *Error why Telegram would refuse these buttons.
func checkButtons(buttons []Button) error {
	if len(buttons) > maxButtons {
		return rejected(fmt.Sprintf("more than %d buttons", maxButtons))
	}
	for i, b := range buttons {
		if blank(b.Text) || !utf8.ValidString(b.Text) {
			return rejected(fmt.Sprintf("button %d has no text", i+1))
		}
		if !opens(b.URL) {
			return rejected(fmt.Sprintf("button %d needs an address such as https://shop.example/", i+1))
		}
	}
	return nil
}

// opens follows check_link in td/telegram/LinkManager.cpp (github.com/tdlib/td): web addresses
// whose host has a dot, and links into Telegram.
func opens(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxButtonURL || strings.ContainsAny(address, " \t\r\n") {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return strings.Contains(u.Hostname(), ".") || strings.Contains(u.Hostname(), ":")
	case "tg":
		return u.Host != ""
	}
	return false
}
