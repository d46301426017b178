package telegram

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"notifier/internal/outbox"
	"notifier/internal/secret"
)

// maxDetail is the longest detail, in characters.
const maxDetail = 200

// detail says in a few words what came of the call: the status and, where Telegram itself spoke,
// its words. Nothing of a page that somebody else sent is shown.
func detail(r *reading, verdict outbox.Verdict) string {
	switch {
	case verdict == outbox.NotSent:
		return short("not sent: " + orElse(r.Failure, "no connection"))
	case r.Status == 0:
		return short("no answer: " + orElse(r.Failure, "connection closed"))
	case r.json && r.ok:
		return statusWords(r.Status)
	case r.json:
		return short(strings.TrimSpace(codeWords(r) + " " + r.description))
	case verdict == outbox.Accepted:
		return statusWords(r.Status) + ": taken, but the answer is cut"
	case verdict == outbox.Uncertain, verdict == outbox.NotFromChannel:
		return short(statusWords(r.Status) + ": not an answer of Telegram" + because(r))
	}
	return statusWords(r.Status)
}

// codeWords is the code, with its name when there is no description, and with the status when
// that says something else.
func codeWords(r *reading) string {
	words := strconv.Itoa(r.code)
	if r.description == "" {
		words = statusWords(r.code)
	}
	if r.code != r.Status {
		words += " (HTTP " + strconv.Itoa(r.Status) + ")"
	}
	return words
}

func statusWords(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

func because(r *reading) string {
	switch {
	case r.Failure != "":
		return " (" + r.Failure + ")"
	case len(r.Body) == 0:
		return " (empty)"
	}
	return ""
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// tokenLike finds what looks like a bot token. Telegram never sends one, but whoever stands
// between might send back what it got.
var tokenLike = regexp.MustCompile(`[0-9]+:[A-Za-z0-9_-]{20,}`)

// short makes one line of at most maxDetail characters.
func short(text string) string {
	text = tokenLike.ReplaceAllString(text, secret.Hidden)
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c) {
			return ' '
		}
		return c
	}, text)
	runes := []rune(text)
	if len(runes) <= maxDetail {
		return string(runes)
	}
	return string(runes[:maxDetail-1]) + "…"
}
