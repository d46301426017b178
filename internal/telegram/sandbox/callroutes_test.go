package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestCallFilters(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.send(7)
	r.send(8)
	r.call("getMe", nil)
	r.call("sendMessage", fields{"chat_id": 7})
	for query, want := range map[string][]uint64{
		"":                        {1, 2, 3, 4},
		"chatId=7":                {1, 4},
		"method=sendmessage":      {1, 2, 4},
		"status=400":              {4},
		"botId=9":                 {},
		"botId=123456&limit=2":    {3, 4},
		"before=3&limit=1":        {2},
		"violations=true":         {},
		"chatId=7&method=getMe":   {},
		"method=getMe&status=200": {3},
	} {
		var calls []Call
		r.control("GET", "/sandbox/calls?"+query, "", 200, &calls)
		ids := []uint64{}
		for _, c := range calls {
			ids = append(ids, c.CallID)
		}
		if got, wanted := encode(ids), encode(want); string(got) != string(wanted) {
			t.Errorf("%s: %s, want %s", query, got, wanted)
		}
	}
	r.control("GET", "/sandbox/calls?status=x", "", 422, nil)
}

func TestHAR(t *testing.T) {
	r := newRig(t, Options{})
	r.send(7)
	var har struct {
		Log struct {
			Version string `json:"version"`
			Entries []struct {
				Request struct {
					URL string `json:"url"`
				} `json:"request"`
				Response struct {
					Status  int `json:"status"`
					Content struct {
						Text string `json:"text"`
					} `json:"content"`
				} `json:"response"`
			} `json:"entries"`
		} `json:"log"`
	}
	body := r.control("GET", "/sandbox/calls.har", "", 200, &har)
	if len(har.Log.Entries) != 1 || har.Log.Version != "1.2" || strings.Contains(body, "AAF-test_token") {
		t.Fatalf("%s", body)
	}
	e := har.Log.Entries[0]
	if !strings.HasSuffix(e.Request.URL, "/bot123456:token/sendMessage") || e.Response.Status != 200 || !strings.Contains(e.Response.Content.Text, "hello") {
		t.Errorf("%+v", e)
	}
}

func TestReplay(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.send(7)
	r.upload("sendDocument", "document", 10, map[string]string{"chat_id": "7"})
	r.call("getUpdates", nil)
	var again Call
	r.control("POST", "/sandbox/calls/1/replay", "", 200, &again)
	if again.CallID != 4 || again.Status != 200 || again.Params["text"] != "hello" || r.Stats().Delivered != 3 {
		t.Errorf("%+v", again)
	}
	r.control("POST", "/sandbox/calls/2/replay", "", 409, nil)
	r.control("POST", "/sandbox/calls/3/replay", "", 409, nil)
	r.control("POST", "/sandbox/calls/99/replay", "", 404, nil)
}

// The clock can be put forward: waits end at once.
func TestClock(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{ChatPerSecond: 0.001})
	r.accepted(r.send(7), nil)
	r.refused(r.send(7), 429, "Too Many Requests: retry after 1000")
	var clock struct {
		Now   time.Time `json:"now"`
		Ahead string    `json:"ahead"`
	}
	r.control("POST", "/sandbox/clock", `{"forward":"1000s"}`, 200, &clock)
	if clock.Ahead != "16m40s" {
		t.Errorf("%+v", clock)
	}
	r.accepted(r.send(7), nil)
	r.control("POST", "/sandbox/clock", `{"forward":"-1s"}`, 422, nil)
	r.control("POST", "/sandbox/clock", `{"forward":"900000h"}`, 422, nil)

	// A call that is held goes on, too.
	r.limit(Limits{ChatPerSecond: 0.001, Hold: time.Hour})
	done := make(chan reply)
	go func() { answer, _ := r.try("sendMessage", fields{"chat_id": 7, "text": "held"}); done <- answer }()
	if _, ok := r.WaitStats(t.Context(), func(s Stats) bool { return s.OpenCalls == 1 }); !ok {
		t.Fatal("the call did not come")
	}
	r.done(r.Forward(time.Hour))
	r.accepted(<-done, nil)
}

func TestCustomerShares(t *testing.T) {
	r := newRig(t, Options{})
	r.call("getMe", nil)
	r.control("POST", "/sandbox/chats/7/profile", `{"firstName":"Anna","lastName":"Ivanova","username":"anna","language":"ru"}`, 200, nil)
	r.control("POST", "/sandbox/chats/7/contact", `{"phoneNumber":"+491234567"}`, 200, nil)
	r.control("POST", "/sandbox/chats/7/location", `{"latitude":52.5,"longitude":13.4}`, 200, nil)
	r.control("POST", "/sandbox/chats/7/photo", `{"data":"aGVsbG8=","caption":"look"}`, 200, nil)
	for path, body := range map[string]string{"contact": `{}`, "location": `{"latitude":1}`, "photo": `{"data":"?"}`, "profile": `{"x":1}`} {
		r.control("POST", "/sandbox/chats/7/"+path, body, 422, nil)
	}
	r.control("POST", "/sandbox/chats/7/profile", `{"firstName":"`+strings.Repeat("x", 65)+`"}`, 409, nil)
	var updates []struct {
		Message messageObject `json:"message"`
	}
	r.accepted(r.call("getUpdates", nil), &updates)
	if len(updates) != 3 {
		t.Fatalf("%+v", updates)
	}
	var shared contact
	_ = json.Unmarshal(updates[0].Message.Contact, &shared)
	if from := updates[0].Message.From; from.FirstName != "Anna" || from.Username != "anna" || from.Language != "ru" || shared.UserID != 7 {
		t.Errorf("%+v, %+v", from, shared)
	}
	if string(updates[1].Message.Location) != `{"latitude":52.5,"longitude":13.4}` || updates[2].Message.Caption != "look" {
		t.Errorf("%+v", updates)
	}
	var file fileObject
	r.accepted(r.call("getFile", fields{"file_id": updates[2].Message.Photo[0].FileID}), &file)
}
