package telegram

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"notifier/internal/outbox"
)

func got(status int, body string) Facts {
	return Facts{Written: true, Status: status, Body: []byte(body)}
}

func cut(status int, body string) Facts {
	f := got(status, body)
	f.Cut, f.Failure = true, "connection closed"
	return f
}

// no is an ok:false as the Bot API server writes it.
func no(code int, description string) Facts {
	return got(code, fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, code, description))
}

const page = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"

// One case or more for every row of the table, in its order.
func TestClassifyVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Facts
		want outbox.Verdict
	}{
		{"no byte left", Facts{Failure: "connection refused"}, outbox.NotSent},
		{"nothing is known", Facts{}, outbox.NotSent},

		{"yes", got(200, `{"ok":true,"result":{"message_id":7}}`), outbox.Accepted},
		{"yes with an odd result", got(200, `{"ok":true,"result":[1,"x"]}`), outbox.Accepted},
		{"yes without a result", got(200, `{"ok":true}`), outbox.Accepted},
		{"yes with a wait in it", got(200, `{"ok":true,"parameters":{"retry_after":5}}`), outbox.Accepted},
		{"yes, not at the beginning", got(200, `{"result":1,"ok":true}`), outbox.Accepted},
		{"yes, cut", cut(200, `{"ok":true,"result":{"mess`), outbox.Accepted},
		{"yes, cut after the word", cut(200, `{"ok":true`), outbox.Accepted},
		{"yes, cut, white space", cut(200, " \r\n{\t\"ok\" : true ,"), outbox.Accepted},
		{"yes, broken inside", got(200, `{"ok":true,"result":}`), outbox.Accepted},
		{"sent and deleted", no(500, "Internal Server Error: sent message was immediately deleted and can't be returned"), outbox.Accepted},

		{"429", no(429, "Too Many Requests: retry after 5"), outbox.Wait},
		{"429 without a body", got(429, ""), outbox.Wait},
		{"429 as a page", got(429, page), outbox.Wait},
		{"429 that says yes", got(429, `{"ok":true}`), outbox.Wait},
		{"420", no(420, "FLOOD_WAIT_9"), outbox.Wait},
		{"a wait inside a 400", no(400, "Bad Request: too Many Requests: retry after 9"), outbox.Wait},
		{"a wait in capitals", no(400, "RETRY AFTER 9"), outbox.Wait},
		{"retry_after inside a 400", got(400, `{"ok":false,"parameters":{"retry_after":3}}`), outbox.Wait},
		{"retry_after inside a 200", got(200, `{"ok":false,"parameters":{"retry_after":3}}`), outbox.Wait},
		{"retry_after inside a 500", got(500, `{"ok":false,"description":"restart","parameters":{"retry_after":3}}`), outbox.Wait},

		{"no answer", Facts{Written: true, Failure: "timed out"}, outbox.Uncertain},
		{"504 page", got(504, page), outbox.Uncertain},
		{"504 in JSON", no(504, "Gateway Timeout"), outbox.Uncertain},
		{"500 restart", no(500, "Internal Server Error: restart"), outbox.Uncertain},
		{"500 aborted", no(500, "Internal Server Error: Request aborted"), outbox.Uncertain},
		{"200 page", got(200, page), outbox.Uncertain},
		{"200 empty", got(200, ""), outbox.Uncertain},
		{"200 cut before the word", cut(200, `{"ok":tr`), outbox.Uncertain},
		{"200 with a word", got(200, `{"ok":"true"}`), outbox.Uncertain},
		{"200 with other letters", got(200, `{"OK":true}`), outbox.Uncertain},
		{"200 with null", got(200, `null`), outbox.Uncertain},
		{"200 true alone", got(200, `{"ok":truetrue`), outbox.Uncertain},

		{"502 page", got(502, page), outbox.NotFromChannel},
		{"503 empty", got(503, ""), outbox.NotFromChannel},
		{"500 page that says restart", got(500, "please restart"), outbox.NotFromChannel},
		{"400 page", got(400, page), outbox.NotFromChannel},
		{"401 page", got(401, page), outbox.NotFromChannel},
		{"403 page", got(403, page), outbox.NotFromChannel},
		{"404 page", got(404, "404 page not found"), outbox.NotFromChannel},
		{"redirect", got(307, ""), outbox.NotFromChannel},
		{"another JSON", got(403, `{"message":"forbidden"}`), outbox.NotFromChannel},
		{"a JSON list", got(400, `[{"ok":false}]`), outbox.NotFromChannel},
		{"no, cut", cut(400, `{"ok":false,"error_code":400,"desc`), outbox.NotFromChannel},
		{"no, cut, in a 200", cut(200, `{"ok":false,"error_code":400,"desc`), outbox.NotFromChannel},
		{"no, cut, in a 403", cut(403, `{"ok":false`), outbox.NotFromChannel},
		{"204", got(204, ""), outbox.NotFromChannel},

		{"401", no(401, "Unauthorized"), outbox.BotStopped},
		{"404", no(404, "Not Found"), outbox.BotStopped},
		{"421", no(421, "Misdirected Request: unallowed token specified"), outbox.BotStopped},
		{"logged out", no(400, "Logged out"), outbox.BotStopped},
		{"frozen", no(400, "Bad Request: FROZEN_METHOD_INVALID"), outbox.BotStopped},
		{"error_code is the code", got(200, `{"ok":false,"error_code":401}`), outbox.BotStopped},

		{"moved", got(400, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1009876500001}}`), outbox.Moved},

		{"403", no(403, "Forbidden: something new"), outbox.ChatDead},
		{"403 in a 200", got(200, `{"ok":false,"error_code":403}`), outbox.ChatDead},
		{"a raw code of a 403", no(400, "Bad Request: USER_IS_BLOCKED"), outbox.ChatDead},
		{"another raw code of a 403", no(400, "INPUT_USER_DEACTIVATED"), outbox.ChatDead},

		{"a closed topic", no(400, `Bad Request: TOPIC_CLOSED`), outbox.Repair},
		{"a deleted topic", no(400, `Bad Request: TOPIC_DELETED`), outbox.Repair},
		{"no such topic", no(400, `Bad Request: message thread not found`), outbox.Repair},
		{"markup", no(400, `Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 1`), outbox.Repair},
		{"markup in capitals", no(400, "CAN'T PARSE ENTITIES"), outbox.Repair},

		{"other 400", no(400, "Bad Request: message is too long"), outbox.Rejected},
		{"400 without words", got(400, `{"ok":false}`), outbox.Rejected},
		{"413", no(413, "Request Entity Too Large"), outbox.Rejected},
		{"the status is the code", got(400, `{"ok":false,"error_code":200}`), outbox.Rejected},
		{"error_code that is no number", got(400, `{"ok":false,"error_code":"403"}`), outbox.Rejected},
		{"moved to nowhere", got(400, `{"ok":false,"parameters":{"migrate_to_chat_id":0}}`), outbox.Rejected},
		{"moved to a word", got(400, `{"ok":false,"parameters":{"migrate_to_chat_id":"x"}}`), outbox.Rejected},

		{"500", no(500, "Internal Server Error"), outbox.Failed},
		{"502 in JSON", no(502, "Bad Gateway"), outbox.Failed},
		{"409", no(409, "Conflict"), outbox.Failed},
		{"402", no(402, "Payment Required"), outbox.Failed},
		{"no without a code", got(200, `{"ok":false}`), outbox.Failed},
		{"a code out of all bounds", got(200, `{"ok":false,"error_code":1e400}`), outbox.Failed},
		{"words of a doubt in a 500", no(500, "chat not found"), outbox.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := classify(c.f); a.Verdict != c.want {
				t.Errorf("got %s (%s), want %s", a.Verdict, a.Detail, c.want)
			}
		})
	}
}

func TestClassifyWhole(t *testing.T) {
	const date = "Sun, 08 Mar 2026 12:00:00 GMT"
	dated := func(f Facts) Facts { f.Date = date; return f }
	noon := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		f    Facts
		want outbox.CallResult
	}{
		{"accepted", dated(got(200, `{"ok":true,"result":{"message_id":7}}`)),
			outbox.CallResult{Verdict: outbox.Accepted, Detail: "200 OK", RemoteID: 7, Date: noon, OK: true, Answered: true}},
		{"accepted, number lost", got(200, `{"ok":true,"result":{"message_id":"7"}}`),
			outbox.CallResult{Verdict: outbox.Accepted, Detail: "200 OK", OK: true, Answered: true}},
		{"accepted, cut", dated(cut(200, `{"ok":true,"result":{"message_id":7`)),
			outbox.CallResult{Verdict: outbox.Accepted, Detail: "200 OK: taken, but the answer is cut", OK: true, Answered: true}},
		{"deleted at once", no(500, "sent message was immediately deleted"),
			outbox.CallResult{Verdict: outbox.Accepted, Detail: "500 sent message was immediately deleted", Answered: true}},
		{"moved", dated(got(400, `{"ok":false,"error_code":400,"description":"Bad Request: upgraded","parameters":{"migrate_to_chat_id":-1009876500001}}`)),
			outbox.CallResult{Verdict: outbox.Moved, Detail: "400 Bad Request: upgraded", MovedTo: "-1009876500001", Date: noon, Answered: true}},
		{"page", dated(got(502, page)),
			outbox.CallResult{Verdict: outbox.NotFromChannel, Detail: "502 Bad Gateway: not an answer of Telegram"}},
		{"500", dated(no(500, "Internal Server Error")),
			outbox.CallResult{Verdict: outbox.Failed, Detail: "500 Internal Server Error", Date: noon}},
		{"code and status differ", got(200, `{"ok":false,"error_code":502}`),
			outbox.CallResult{Verdict: outbox.Failed, Detail: "502 Bad Gateway (HTTP 200)"}},
		{"no answer", Facts{Written: true, Failure: "timed out"},
			outbox.CallResult{Verdict: outbox.Uncertain, Detail: "no answer: timed out"}},
		{"not sent", Facts{Failure: "name not found"},
			outbox.CallResult{Verdict: outbox.NotSent, Detail: "not sent: name not found"}},
		{"bot stopped", no(401, "Unauthorized"),
			outbox.CallResult{Verdict: outbox.BotStopped, Detail: "401 Unauthorized", Answered: true}},
		{"429 page", got(429, page),
			outbox.CallResult{Verdict: outbox.Wait, Detail: "429 Too Many Requests"}},
		{"200, empty", got(200, ""),
			outbox.CallResult{Verdict: outbox.Uncertain, Detail: "200 OK: not an answer of Telegram (empty)"}},
		{"no code and no words", got(413, `{"ok":false}`),
			outbox.CallResult{Verdict: outbox.Rejected, Detail: "413 Request Entity Too Large", Answered: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, classify(c.f)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestDetailIsShortAndClean(t *testing.T) {
	const token = "7900000001:AAF0123456789abcdefghijklmnopqrstuv"
	for _, f := range []Facts{
		no(400, "Bad Request: "+strings.Repeat("ж", 5000)),
		no(400, "first\nsecond\x00third\u2028fourth"),
		no(401, "invalid token "+token),
		got(502, strings.Repeat(page, 300)+token),
		{Written: true, Failure: strings.Repeat("x", 900)},
		got(400, "{\"ok\":false,\"description\":\"\xff\xfe\"}"),
	} {
		d := classify(f).Detail
		if utf8.RuneCountInString(d) > maxDetail || !utf8.ValidString(d) || strings.ContainsAny(d, "\n\x00\u2028<") || strings.Contains(d, token) {
			t.Errorf("%q", d)
		}
	}
}

var verdicts = map[outbox.Verdict]bool{
	outbox.Accepted: true, outbox.Wait: true, outbox.Uncertain: true, outbox.NotSent: true, outbox.NotFromChannel: true,
	outbox.BotStopped: true, outbox.Moved: true, outbox.ChatDead: true, outbox.ChatDoubtful: true, outbox.Repair: true,
	outbox.Rejected: true, outbox.Failed: true,
}

// checkAnswer holds whatever the facts were.
func checkAnswer(f Facts) string {
	a := classify(f)
	switch {
	case !verdicts[a.Verdict]:
		return "unknown verdict " + string(a.Verdict)
	case utf8.RuneCountInString(a.Detail) > maxDetail || !utf8.ValidString(a.Detail) || a.Detail == "":
		return "bad detail " + a.Detail
	case a.Wait < 0 || a.Wait != 0 && a.Verdict != outbox.Wait || a.Wait%time.Second != 0:
		return "bad wait " + a.Wait.String()
	case (a.MovedTo != "") != (a.Verdict == outbox.Moved):
		return "bad address " + a.MovedTo
	case (a.Reason != "") != (a.Verdict == outbox.ChatDead || a.Verdict == outbox.ChatDoubtful):
		return "bad reason " + a.Reason
	case a.Verdict == outbox.NotSent && (f.Written || f.Status != 0):
		return "a call that may have been sent counts as not sent"
	case a.OK && a.Verdict != outbox.Accepted:
		return "ok without acceptance"
	}
	return ""
}

func TestClassifyAnything(t *testing.T) {
	members := []string{
		`"ok":true`, `"ok":false`, `"ok":1`, `"error_code":403`, `"error_code":-1`, `"error_code":4e2`, `"description":"retry after 5"`,
		`"description":"chat not found"`, `"description":null`, `"parameters":{"retry_after":1.5}`, `"parameters":[]`,
		`"parameters":{"migrate_to_chat_id":-100}`, `"result":{"message_id":1}`, `"result":null`,
	}
	rapid.Check(t, func(t *rapid.T) {
		body := "{" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(members), 0, 5).Draw(t, "members"), ",") + "}"
		if rapid.Bool().Draw(t, "noise") {
			body = rapid.String().Draw(t, "body")
		}
		f := Facts{
			Written:    rapid.Bool().Draw(t, "written"),
			Status:     rapid.SampledFrom([]int{0, 200, 201, 302, 400, 401, 403, 404, 413, 420, 421, 429, 500, 502, 504, 999, -1}).Draw(t, "status"),
			RetryAfter: rapid.SampledFrom([]string{"", "5", "-5", "x"}).Draw(t, "header"),
			Date:       rapid.SampledFrom([]string{"", "x", "Sun, 08 Mar 2026 12:00:00 GMT"}).Draw(t, "date"),
			Body:       []byte(body)[:rapid.IntRange(0, len(body)).Draw(t, "cut")],
		}
		if fault := checkAnswer(f); fault != "" {
			t.Fatalf("%+v: %s", f, fault)
		}
	})
}

func FuzzClassify(f *testing.F) {
	f.Add(true, 200, "", []byte(`{"ok":true,"result":{"message_id":1}}`))
	f.Add(true, 429, "5", []byte(`{"ok":false,"parameters":{"retry_after":1e400}}`))
	f.Add(true, 400, "", []byte(`{"ok":false,"error_code":400,"description":"retry after 99999999999999999999"}`))
	f.Add(false, 0, "", []byte(nil))
	f.Fuzz(func(t *testing.T, written bool, status int, header string, body []byte) {
		if fault := checkAnswer(Facts{Written: written, Status: status, RetryAfter: header, Body: body}); fault != "" {
			t.Error(fault)
		}
	})
}

func TestIdentityIsNoSignOfLifeWhenTheTokenIsRefused(t *testing.T) {
	for _, c := range []struct {
		f                  Facts
		identity, answered bool
	}{
		{got(200, `{"ok":true}`), true, true},
		{no(429, "Too Many Requests: retry after 1"), true, true},
		{no(400, "Bad Request"), true, true},
		{no(401, "Unauthorized"), false, true},
		{no(404, "Not Found"), false, true},
		{no(500, "Internal Server Error"), false, false},
		{got(200, page), false, false},
		{got(429, page), false, false},
		{Facts{}, false, false},
	} {
		a := classify(c.f)
		if a.Answered != c.answered || asIdentity(a).Answered != c.identity {
			t.Errorf("%+v: answered %v, as an identity %v", c.f, a.Answered, asIdentity(a).Answered)
		}
	}
}
