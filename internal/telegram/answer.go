package telegram

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// reading is an answer of the Bot API taken apart: what the rows of the table look at.
type reading struct {
	Facts
	json        bool // the body is a JSON object with a boolean "ok"
	ok          bool // with json: that boolean
	beginsTrue  bool // the body begins as {"ok":true, and may be cut after that
	beginsFalse bool
	code        int    // error_code if it is a number from 400 up, else the status
	description string // as Telegram wrote it
	words       string // the same in lower case
	flooded     bool   // an ok:false that names a wait
	wait        time.Duration
	movedTo     string
	messageID   int64
	result      json.RawMessage
}

// The first member of every answer of the Bot API server is "ok"
// (github.com/tdlib/telegram-bot-api, telegram-bot-api/Query.cpp and HttpConnection.cpp).
var beginning = regexp.MustCompile(`^[ \t\r\n]*\{[ \t\r\n]*"ok"[ \t\r\n]*:[ \t\r\n]*(true|false)(?:[ \t\r\n,}]|$)`)

func read(f Facts) *reading {
	r := &reading{Facts: f, code: f.Status}
	if m := beginning.FindSubmatch(f.Body); m != nil {
		r.beginsTrue, r.beginsFalse = string(m[1]) == "true", string(m[1]) == "false"
	}
	r.readBody()
	r.words = strings.ToLower(r.description)
	r.readWait()
	return r
}

// readBody decodes member by member, so that one of an unexpected type costs only itself.
func (r *reading) readBody() {
	var top map[string]json.RawMessage
	if json.Unmarshal(r.Body, &top) != nil {
		return
	}
	switch string(top["ok"]) {
	case "true":
		r.json, r.ok = true, true
	case "false":
		r.json = true
	default:
		return
	}
	_ = json.Unmarshal(top["description"], &r.description)
	if code, ok := number(top["error_code"]); ok && code >= 400 {
		r.code = int(math.Min(code, math.MaxInt32))
	}
	r.result = top["result"]
	var result struct {
		MessageID json.RawMessage `json:"message_id"`
	}
	if json.Unmarshal(top["result"], &result) == nil {
		r.messageID, _ = integer(result.MessageID)
	}
	var parameters map[string]json.RawMessage
	_ = json.Unmarshal(top["parameters"], &parameters)
	if id, ok := integer(parameters["migrate_to_chat_id"]); ok && id != 0 {
		r.movedTo = strconv.FormatInt(id, 10)
	}
	if n, ok := number(parameters["retry_after"]); ok {
		r.flooded = !r.ok
		r.wait = seconds(n)
	}
}

var retryAfterWords = regexp.MustCompile(`retry after\s+(-?[0-9]+(?:\.[0-9]+)?)`)

// readWait finds the wait where readBody did not: in the description, then in the header.
func (r *reading) readWait() {
	if m := retryAfterWords.FindStringSubmatch(r.words); m != nil {
		r.flooded = r.flooded || r.json && !r.ok
		if n, ok := number([]byte(m[1])); ok && r.wait == 0 {
			r.wait = seconds(n)
		}
	}
	if r.wait == 0 {
		r.wait = r.headerWait()
	}
}

// headerWait reads Retry-After in both forms of RFC 9110, section 10.2.3. The second form is a
// time; it is held against the Date of the same answer, as our clock may differ.
func (r *reading) headerWait() time.Duration {
	value := strings.TrimSpace(r.RetryAfter)
	if n, ok := number([]byte(value)); ok {
		return seconds(n)
	}
	until, errUntil := http.ParseTime(value)
	date, errDate := http.ParseTime(r.Date)
	if errUntil != nil || errDate != nil {
		return 0
	}
	return seconds(until.Sub(date).Seconds())
}

// maxWait is the longest wait that is taken over, some 68 years: the Bot API's numbers are
// 32-bit integers, and a larger one must not overflow a time.
const maxWait = math.MaxInt32

// seconds rounds up to whole seconds. What is not positive is no wait.
func seconds(n float64) time.Duration {
	if !(n > 0) { // NaN too
		return 0
	}
	return time.Duration(math.Ceil(math.Min(n, maxWait))) * time.Second
}

// number reads a JSON number of any size; one beyond float64 becomes infinite.
func number(raw []byte) (float64, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil || math.IsInf(n, 0)
}

func integer(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(raw)), 10, 64)
	return n, err == nil
}
