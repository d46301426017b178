package telegram

import (
	"net/http"
	"strings"

	"notifier/internal/outbox"
)

// classify judges one call by its facts. It is a pure function: the first row of the table that
// fits decides, and the last row fits everything.
func classify(f Facts) outbox.CallResult {
	r := read(f)
	for _, row := range table {
		if row.fits(r) {
			return row.answer(r)
		}
	}
	panic("telegram: the table of verdicts has no last row")
}

// row is one line of the table: a signal and the verdict it stands for.
type row struct {
	name    string
	verdict outbox.Verdict
	fits    func(*reading) bool
	// fill adds what this verdict carries besides its name and detail.
	fill func(*reading, *outbox.CallResult)
}

// table is the order in which signals are looked at; the first that fits decides. Where no answer
// or no answer of Telegram's came, the HTTP status speaks; from the row "bot stopped" on, the code
// of the answer does. The descriptions are those of github.com/tdlib/telegram-bot-api,
// telegram-bot-api/Client.cpp, and of the files of github.com/tdlib/td named at their lists.
var table = []row{
	{"nothing left", outbox.NotSent, nothingLeft, nil},
	{"200 and ok", outbox.Accepted, granted, fillAccepted},
	{"500 immediately deleted", outbox.Accepted, all(status(500), says("immediately deleted")), nil},
	{"429 or 420", outbox.Wait, status(429, 420), fillWait},
	{"a wait is named", outbox.Wait, func(r *reading) bool { return r.flooded }, fillWait},
	{"no answer", outbox.Uncertain, status(0), nil},
	{"504", outbox.Uncertain, status(504), nil},
	{"500 restart or aborted", outbox.Uncertain, all(status(500), says("restart", "aborted")), nil},
	{"200 and unreadable", outbox.Uncertain, all(status(200), unreadable), nil},
	{"not Telegram", outbox.NotFromChannel, func(r *reading) bool { return !r.json }, nil},
	{"bot stopped", outbox.BotStopped, code(401, 404, 421), nil},
	{"bot stopped in words", outbox.BotStopped, says("logged out", "frozen_method_invalid"), nil},
	{"moved", outbox.Moved, func(r *reading) bool { return r.movedTo != "" }, fillMoved},
	{"403", outbox.ChatDead, code(403), fillDead},
	{"403 as a raw code", outbox.ChatDead, all(code(400), says(deadCodes...)), fillDead},
	{"chat not found", outbox.ChatDoubtful, all(code(400), says(notFoundWords...)), reason(outbox.ReasonChatNotFound)},
	{"no rights", outbox.ChatDoubtful, all(code(400), says(noRightsWords...)), reason(outbox.ReasonNoRights)},
	{"bad markup", outbox.Repair, all(code(400), says("can't parse entities")), nil},
	{"topic", outbox.Repair, all(code(400), says(topicWords...)), nil},
	{"other 400, 413", outbox.Rejected, code(400, 413), nil},
	{"anything else", outbox.Failed, func(*reading) bool { return true }, nil},
}

func (w row) answer(r *reading) outbox.CallResult {
	a := outbox.CallResult{
		Verdict:  w.verdict,
		Detail:   detail(r, w.verdict),
		OK:       granted(r),
		Answered: w.verdict == outbox.Accepted || r.json && (r.code < 500 || r.code > 599),
	}
	if r.json {
		a.Date, _ = http.ParseTime(r.Date)
	}
	if w.fill != nil {
		w.fill(r, &a)
	}
	return a
}

func nothingLeft(r *reading) bool { return !r.Written && r.Status == 0 }

// granted is the plain yes. One that is cut after its beginning is a yes as well: the message is
// with Telegram, only its number is lost.
func granted(r *reading) bool {
	return r.Status == 200 && (r.json && r.ok || !r.json && r.beginsTrue)
}

// unreadable is neither a yes nor a no. A no that is cut is still no yes, so it is left to the row
// of those who are not Telegram.
func unreadable(r *reading) bool { return !r.json && !r.beginsFalse }

func status(codes ...int) func(*reading) bool {
	return func(r *reading) bool { return among(r.Status, codes) }
}

func code(codes ...int) func(*reading) bool {
	return func(r *reading) bool { return among(r.code, codes) }
}

func among(n int, list []int) bool {
	for _, c := range list {
		if n == c {
			return true
		}
	}
	return false
}

// says looks for any of these words, given in lower case, in the description.
func says(words ...string) func(*reading) bool {
	return func(r *reading) bool { return contains(r.words, words) }
}

func contains(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

func all(conditions ...func(*reading) bool) func(*reading) bool {
	return func(r *reading) bool {
		for _, c := range conditions {
			if !c(r) {
				return false
			}
		}
		return true
	}
}

func fillAccepted(r *reading, a *outbox.CallResult) { a.RemoteID = r.messageID }

func fillWait(r *reading, a *outbox.CallResult) { a.Wait = r.wait }

func fillMoved(r *reading, a *outbox.CallResult) { a.MovedTo = r.movedTo }

func fillDead(r *reading, a *outbox.CallResult) { a.Reason = deathReason(r.words) }

func reason(name string) func(*reading, *outbox.CallResult) {
	return func(_ *reading, a *outbox.CallResult) { a.Reason = name }
}
