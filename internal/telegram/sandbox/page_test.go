package sandbox

import (
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPageIsSelfContained(t *testing.T) {
	r := newRig(t, Options{})
	types := map[string]string{
		".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	}
	pages := map[string]string{"/": "text/html; charset=utf-8"}
	for _, name := range pageParts() {
		pages["/sandbox/page/"+name] = types[path.Ext(name)]
	}
	loads := regexp.MustCompile(`(src|href)="[^/"#]|url\(|@import|from "[^.]|https?://[a-z]`)
	for address, contentType := range pages {
		answer, err := r.do(request(http.MethodGet, r.url+address, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		if answer.status != 200 || answer.header.Get("Content-Type") != contentType {
			t.Errorf("%s: %d %v", address, answer.status, answer.header)
		}
		if !strings.HasPrefix(answer.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", address, answer.header)
		}
		// The two addresses are an XML namespace and the one that the page says to replace.
		body := strings.NewReplacer("http://www.w3.org/2000/svg", "", "https://api.telegram.org", "").Replace(answer.body)
		if found := loads.FindString(body); found != "" {
			t.Errorf("%s loads something: %s", address, found)
		}
	}
}

func TestTranscript(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.done(r.Start(7, "abc"))
	r.accepted(r.call("sendMessage", fields{
		"chat_id": 7, "text": "<b>Hello</b>", "parse_mode": "HTML",
		"reply_markup": `{"inline_keyboard":[[{"text":"OK","callback_data":"ok"}]]}`,
	}), nil)
	r.done(r.Press(7, 2, "ok"))
	list := r.updates(nil)
	r.call("answerCallbackQuery", fields{"callback_query_id": list[len(list)-1].CallbackQuery.ID, "text": "Noted"})
	r.call("editMessageText", fields{"chat_id": 7, "message_id": 2, "text": "Bye"})
	r.done(r.Block(7))
	r.done(r.Write(7, "again"))

	var chat struct {
		ChatID int64
		Name   string
		State  ChatState
		Lines  []lineView
	}
	r.control(http.MethodGet, "/sandbox/chats/7", "", 200, &chat)
	var said []string
	for _, l := range chat.Lines {
		said = append(said, string(l.Author)+": "+l.Text)
	}
	want := []string{
		"customer: /start abc", "bot: Bye", `notice: The customer pressed "ok".`, "notice: The bot answered: Noted",
		"notice: The customer blocked the bot.", "notice: The customer unblocked the bot.", "customer: again",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if chat.ChatID != 7 || chat.Name != "Customer 7" || chat.State != ChatOpen || chat.Lines[1].EditedAt.IsZero() {
		t.Errorf("%+v", chat)
	}
	r.control(http.MethodGet, "/sandbox/chats/x", "", 422, nil)
}

func TestLongTranscriptKeepsItsEnd(t *testing.T) {
	r := newRig(t, Options{})
	for range maxLines + 50 {
		r.done(r.Write(7, "early"))
	}
	r.done(r.Write(7, "late"))
	lines := r.current().chat(7).lines
	if len(lines) != maxLines || lines[maxLines-1].text != "late" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1].text)
	}
}

func TestChatsWait(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.limit(Limits{})
		var list struct {
			Version string
			Chats   []chatView
		}
		r.control(http.MethodGet, "/sandbox/overview?wait=25s", "", 200, &list)
		if len(list.Chats) != 0 || list.Version == "" {
			t.Errorf("%+v", list)
		}
		start := time.Now()
		time.AfterFunc(time.Second, func() { r.send(7) })
		r.control(http.MethodGet, "/sandbox/overview?wait=25s&after="+list.Version, "", 200, &list)
		if waited := time.Since(start); len(list.Chats) != 1 || waited != time.Second {
			t.Errorf("%+v after %v", list, waited)
		}
		synctest.Wait() // until the end of the call has been noted, too
		r.send(8)
		r.send(9)
		r.send(7)
		r.control(http.MethodGet, "/sandbox/overview?wait=25s&after="+list.Version, "", 200, &list)
		if list.Chats[0].ChatID != 7 || list.Chats[2].ChatID != 8 || list.Chats[0].Last.Text != "hello" {
			t.Errorf("%+v", list.Chats)
		}
		start = time.Now()
		r.control(http.MethodGet, "/sandbox/overview?wait=25s&after="+list.Version, "", 200, &list)
		if waited := time.Since(start); waited != 25*time.Second {
			t.Errorf("waited %v", waited)
		}
		time.AfterFunc(time.Second, r.Reset)
		r.control(http.MethodGet, "/sandbox/overview?wait=25s&after="+list.Version, "", 200, &list)
		if len(list.Chats) != 0 {
			t.Errorf("after a reset %+v", list)
		}
	})
}
