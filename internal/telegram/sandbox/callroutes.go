package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// callFilter says which calls are wanted; a zero field sets no condition.
type callFilter struct {
	chatID, botID int64
	method        string
	status        int
	violations    bool // only calls that ignored a wait
	before        uint64
	limit         int // the latest so many
}

func readCallFilter(r *http.Request) (callFilter, error) {
	f := callFilter{method: r.FormValue("method"), violations: r.FormValue("violations") == "true"}
	var err error
	if f.chatID, err = queryChat(r); err != nil {
		return f, err
	}
	for name, into := range map[string]func(int64){
		"botId":  func(n int64) { f.botID = n },
		"status": func(n int64) { f.status = int(n) },
		"before": func(n int64) { f.before = uint64(n) }, //nolint:gosec // checked below
		"limit":  func(n int64) { f.limit = int(n) },
	} {
		text := r.FormValue(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return f, fmt.Errorf("%s must be a whole number", name)
		}
		into(n)
	}
	return f, nil
}

func (f callFilter) matches(c *Call) bool {
	return (f.chatID == 0 || c.ChatID == f.chatID) && (f.botID == 0 || c.BotID == f.botID) &&
		(f.method == "" || strings.EqualFold(f.method, c.Method)) && (f.status == 0 || c.Status == f.status) &&
		(!f.violations || len(c.Violated) > 0) && (f.before == 0 || c.CallID < f.before)
}

// callsAtOnce is in how many calls is looked before other calls may go on.
const callsAtOnce = 2000

// filtered copies the calls that are wanted, oldest first.
func (s *Sandbox) filtered(f callFilter) []Call {
	w := s.current()
	w.mu.Lock()
	all := append([]*Call(nil), w.calls.entries...)
	w.mu.Unlock()
	found := []Call{}
	for end := len(all); end > 0 && (f.limit == 0 || len(found) < f.limit); end -= callsAtOnce {
		w.mu.Lock()
		for i := end - 1; i >= max(0, end-callsAtOnce) && (f.limit == 0 || len(found) < f.limit); i-- {
			if f.matches(all[i]) {
				found = append(found, *all[i])
			}
		}
		w.mu.Unlock()
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// showCalls lists the calls, oldest first: of one chat, bot, method or status,
// those that violated something, those before an id, the latest so many.
func (s *Sandbox) showCalls(rw http.ResponseWriter, r *http.Request) {
	filter, err := readCallFilter(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	show(rw, http.StatusOK, s.filtered(filter))
}

// exportCalls is showCalls as a file: HAR 1.2, which browsers and proxies read.
func (s *Sandbox) exportCalls(rw http.ResponseWriter, r *http.Request) {
	filter, err := readCallFilter(r)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, err)
		return
	}
	entries := []map[string]any{}
	for _, c := range s.filtered(filter) {
		entries = append(entries, c.har("http://"+r.Host))
	}
	rw.Header().Set("Content-Disposition", `attachment; filename="calls.har"`)
	show(rw, http.StatusOK, map[string]any{"log": map[string]any{
		"version": "1.2", "creator": map[string]string{"name": "notifier sandbox", "version": "1"}, "entries": entries,
	}})
}

// har is a call as an entry of a HAR file. The token is left out.
func (c Call) har(base string) map[string]any {
	params := []map[string]string{}
	form := url.Values{}
	for name, value := range c.Params {
		params = append(params, map[string]string{"name": name, "value": value})
		form.Set(name, value)
	}
	took := 0.0
	if !c.AnsweredAt.IsZero() {
		took = float64(c.AnsweredAt.Sub(c.ReceivedAt)) / float64(time.Millisecond)
	}
	none := []any{}
	return map[string]any{
		"startedDateTime": c.ReceivedAt, "time": took, "cache": struct{}{},
		"timings": map[string]float64{"send": 0, "wait": took, "receive": 0},
		"request": map[string]any{
			"method": http.MethodPost, "url": fmt.Sprintf("%s/bot%d:token/%s", base, c.BotID, c.Method), "httpVersion": "HTTP/1.1",
			"headers": none, "queryString": none, "cookies": none, "headersSize": -1, "bodySize": -1,
			"postData": map[string]any{"mimeType": "application/x-www-form-urlencoded", "params": params, "text": form.Encode()},
		},
		"response": map[string]any{
			"status": c.Status, "statusText": http.StatusText(c.Status), "httpVersion": "HTTP/1.1", "headers": none, "cookies": none,
			"content":     map[string]any{"size": len(c.Answer), "mimeType": "application/json", "text": string(c.Answer)},
			"redirectURL": "", "headersSize": -1, "bodySize": len(c.Answer),
		},
		"_callId": c.CallID, "_outcome": c.Outcome,
	}
}

// pathCall reads the call in the path; an error has been answered when it is
// false.
func (s *Sandbox) pathCall(rw http.ResponseWriter, r *http.Request) (Call, bool) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		refuse(rw, http.StatusUnprocessableEntity, fmt.Errorf("%q is no call id", r.PathValue("id")))
		return Call{}, false
	}
	c, known := s.call(id)
	if !known {
		refuse(rw, http.StatusNotFound, fmt.Errorf("call %d is not known, or forgotten", id))
	}
	return c, known
}

// showCall gives one call.
func (s *Sandbox) showCall(rw http.ResponseWriter, r *http.Request) {
	if c, known := s.pathCall(rw, r); known {
		show(rw, http.StatusOK, c)
	}
}

// replayCall makes a call once more, with the same parameters, and gives the new
// one. Files that were uploaded with it are not kept with a call, so one with
// files cannot be repeated.
func (s *Sandbox) replayCall(rw http.ResponseWriter, r *http.Request) {
	c, known := s.pathCall(rw, r)
	switch {
	case !known:
		return
	case len(c.Files) > 0:
		refuse(rw, http.StatusConflict, fmt.Errorf("call %d had uploads, which are not kept with it", c.CallID))
		return
	case strings.EqualFold(c.Method, "getUpdates"):
		refuse(rw, http.StatusConflict, fmt.Errorf("call %d asked for updates; repeated here it would take them from the bot", c.CallID))
		return
	}
	body, _ := json.Marshal(c.Params) //nolint:errchkjson // strings only
	path := fmt.Sprintf("/bot%d:replay/%s", c.BotID, c.Method)
	again, err := http.NewRequestWithContext(r.Context(), http.MethodPost, path, strings.NewReader(string(body)))
	if err != nil {
		refuse(rw, http.StatusConflict, err)
		return
	}
	again.Header.Set("Content-Type", "application/json")
	again.RemoteAddr = "replay" // no client of the bot's
	repeated := s.serveCall(again)
	if repeated == nil {
		refuse(rw, http.StatusConflict, fmt.Errorf("call %d cannot be repeated", c.CallID))
		return
	}
	fresh, _ := s.call(repeated.CallID)
	show(rw, http.StatusOK, fresh)
}
