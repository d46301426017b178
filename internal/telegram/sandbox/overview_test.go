package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// overview asks for what the page shows.
func (r *rig) overview(query string) overview {
	r.t.Helper()
	var view struct {
		overview
		Faults json.RawMessage `json:"faults"` // only written, never read
	}
	r.control(http.MethodGet, "/sandbox/overview"+query, "", 200, &view)
	return view.overview
}

// lines shows what a chat says, as "author: text".
func (r *rig) lines(chatID int64) []lineView {
	r.t.Helper()
	var chat struct{ Lines []lineView }
	r.control(http.MethodGet, "/sandbox/chats/"+strconv.FormatInt(chatID, 10), "", 200, &chat)
	return chat.Lines
}

func TestFailedCallsAreShownInTheirChat(t *testing.T) {
	r := newRig(t, Options{})
	r.send(7)
	r.send(7)
	r.send(7)
	r.limit(Limits{})
	r.fault(Fault{Times: 1, Respond: Respond{Status: 502, Body: text("<html>")}})
	r.fault(Fault{Times: 1, Respond: Respond{Status: 200}})
	r.fault(Fault{Times: 1, Respond: Respond{Drop: DropBefore}})
	r.fault(Fault{Times: 1, Respond: Respond{Drop: DropAfter}})
	for range 4 {
		_, _ = r.try("sendMessage", fields{"chat_id": 7, "text": "again"})
	}
	r.call("getChat", fields{"chat_id": 7}) // nothing to show
	var said []string
	for _, l := range r.lines(7) {
		said = append(said, string(l.Author)+": "+l.Text+" "+strconv.Itoa(l.Status)+" "+strconv.Itoa(l.Times))
		if l.CallID == 0 {
			t.Errorf("no call is behind %+v", l)
		}
	}
	want := []string{
		"bot: hello 0 0",
		"failure: sendMessage: 429 Too Many Requests: retry after 1 429 2",
		"failure: sendMessage: 502 with a body that is not the Bot API's 502 1",
		"failure: sendMessage: 200, though nothing was done 200 1",
		"failure: sendMessage: the connection was lost before anything was done 0 1",
		"bot: again 0 0",
		"failure: sendMessage: done, but its answer was lost 0 1",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

func TestCallsBehindALine(t *testing.T) {
	r := newRig(t, Options{})
	r.send(7)
	r.call("editMessageText", fields{"chat_id": 7, "message_id": 1, "text": "Bye"})
	line := r.lines(7)[0]
	var sent, edited Call
	r.control(http.MethodGet, "/sandbox/calls/"+strconv.FormatUint(line.CallID, 10), "", 200, &sent)
	r.control(http.MethodGet, "/sandbox/calls/"+strconv.FormatUint(line.EditCallID, 10), "", 200, &edited)
	if sent.Method != "sendMessage" || edited.Method != "editMessageText" || line.BotID != 123456 {
		t.Errorf("%+v, %+v behind %+v", sent, edited, line)
	}
	r.control(http.MethodGet, "/sandbox/calls/99", "", 404, nil)
	r.control(http.MethodGet, "/sandbox/calls/x", "", 422, nil)
}

func TestOverviewCountsTheTraffic(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.send(7)
		r.send(7)
		time.Sleep(time.Second)
		r.call("getMe", nil)
		view := r.overview("")
		if len(view.Traffic) != 2 {
			t.Fatalf("%+v", view.Traffic)
		}
		first, second := view.Traffic[0], view.Traffic[1]
		if first.Calls != 2 || first.Delivered != 1 || first.TooManyRequests != 1 || second.Calls != 1 || second.At != first.At+1 {
			t.Errorf("%+v", view.Traffic)
		}
		if got := view.Refusals; len(got) != 1 || got[0].ChatID != 7 || got[0].Wait != "429 Too Many Requests: retry after 1" {
			t.Errorf("%+v", got)
		}
		if view.Bots != 1 || view.Chats[0].Delivered != 1 {
			t.Errorf("%+v", view)
		}
		time.Sleep(time.Minute)
		if left := r.overview("").Traffic; len(left) != 0 {
			t.Errorf("a minute later %+v", left)
		}
	})
}

// Seconds may come late and out of order.
func TestTrafficKeepsAMinute(t *testing.T) {
	var all traffic
	start := time.Unix(1_800_000_000, 0)
	for i := range 100 {
		all.second(start.Add(time.Duration(i)*2*time.Second)).Calls++
	}
	all.second(start.Add(191*time.Second)).Calls++
	all.second(start).Calls++ // long forgotten
	if len(all.seconds) != trafficSeconds {
		t.Fatalf("%d seconds are kept", len(all.seconds))
	}
	for i, s := range all.seconds[1:] {
		if s.At <= all.seconds[i].At || s.Calls != 1 {
			t.Errorf("%+v after %+v", s, all.seconds[i])
		}
	}
	if got := all.since(start.Add(198 * time.Second)); len(got) != 31 {
		t.Errorf("%d of them are in the last minute", len(got))
	}
}

func TestSearch(t *testing.T) {
	r := newRig(t, Options{StrictChats: false})
	r.limit(Limits{})
	r.call("sendMessage", fields{"chat_id": 71, "text": "<b>Gr</b>een tea", "parse_mode": "HTML"})
	r.call("sendMessage", fields{"chat_id": 71, "text": "anything else?"})
	r.done(r.Write(72, "no GREEN tea please"))
	r.done(r.Write(-5, "hello"))
	for query, want := range map[string][]string{
		"green+tea": {"no GREEN tea please", "Green tea"},
		"71":        {"anything else?"},
		"group":     {"hello"},
		"milk":      {},
		"":          {"hello", "no GREEN tea please", "anything else?"},
	} {
		found := []string{}
		for _, c := range r.overview("?q=" + query).Chats {
			found = append(found, c.Last.Text)
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestOneFaultIsEnded(t *testing.T) {
	r := newRig(t, Options{})
	r.fault(Fault{Respond: Respond{Status: 500}})
	r.fault(Fault{Respond: Respond{Status: 501}})
	r.control(http.MethodDelete, "/sandbox/faults/1", "", 204, nil)
	if left := r.Faults(); len(left) != 1 || left[0].FaultID != 2 {
		t.Errorf("%+v", left)
	}
	r.control(http.MethodDelete, "/sandbox/faults/1", "", 404, nil)
	r.control(http.MethodDelete, "/sandbox/faults/x", "", 422, nil)
}

func TestMessagesAfterOne(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		r.send(7)
		time.AfterFunc(time.Second, func() { r.send(7) })
		var found []Message
		r.control(http.MethodGet, "/sandbox/messages?chatId=7&after=1&wait=5s", "", 200, &found)
		if len(found) != 1 || found[0].MessageID != 2 {
			t.Errorf("%+v", found)
		}
		r.control(http.MethodGet, "/sandbox/messages?after=x", "", 422, nil)
		synctest.Wait() // until the sender has its answer, too
	})
}

// A web page of somebody else, open in the same browser, can do nothing here.
func TestForeignPagesCannotAct(t *testing.T) {
	r := newRig(t, Options{})
	post := request(http.MethodPost, r.url+"/sandbox/chats/7/block", "text/plain", "")
	post.Header.Set("Origin", "https://evil.example")
	post.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := r.do(post)
	if err != nil || answer.status != http.StatusForbidden {
		t.Errorf("%d %s, %v", answer.status, answer.body, err)
	}
	r.accepted(r.send(7), nil)
}

// All who watch share one picture, which is at most 200 ms old, however much
// happens meanwhile.
func TestWatchersShareAPicture(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		look := func(query string) string {
			var view struct {
				Version string `json:"version"`
			}
			r.control("GET", "/sandbox/overview?"+query, "", 200, &view)
			return view.Version
		}
		first := look("")
		r.send(7)
		if second := look(""); second != first {
			t.Errorf("a picture was made at once: %s, %s", first, second)
		}
		start := time.Now()
		third := look("wait=1s&after=" + first)
		if waited := time.Since(start); third == first || waited > pictureAge {
			t.Errorf("%s after %v", third, waited)
		}
		r.Reset()
		if fourth := look("wait=1s&after=" + third); fourth == third || time.Since(start) > pictureAge {
			t.Errorf("a reset was not shown at once: %s", fourth)
		}
	})
}
