package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/telegram/sandbox/markup"
)

// take does something and gives the updates that came of it.
func (r *rig) take(act error) []updateObject {
	r.t.Helper()
	r.done(act)
	list := r.updates(nil)
	if len(list) > 0 {
		r.updates(fields{"offset": list[len(list)-1].UpdateID + 1})
	}
	return list
}

// membership checks that the first update tells of the bot's place in a chat.
func (r *rig) membership(list []updateObject, old, now string) {
	r.t.Helper()
	me := user{ID: 123456, IsBot: true, FirstName: "Sandbox 123456", Username: "sandbox_123456_bot"}
	if len(list) == 0 || list[0].MyChatMember == nil {
		r.t.Fatalf("%+v", list)
	}
	m := list[0].MyChatMember
	if m.Old.Status != old || m.New.Status != now || m.New.User != me || m.From.IsBot || m.Date == 0 {
		r.t.Errorf("%+v", m)
	}
}

func TestActsBecomeUpdates(t *testing.T) {
	r := newRig(t, Options{StrictChats: true})
	r.limit(Limits{})
	r.call("getMe", nil)
	take, membership := r.take, r.membership
	list := take(r.Start(7, "tok-en_1"))
	want := &messageObject{
		MessageID: 1,
		From:      &user{ID: 7, FirstName: "Customer 7", Language: "en"},
		Chat:      chatObject{ID: 7, FirstName: "Customer 7", Type: "private"},
		Text:      "/start tok-en_1",
		Entities:  []markup.Entity{{Type: "bot_command", Length: 6}},
	}
	list[0].Message.Date = 0
	if diff := cmp.Diff(want, list[0].Message, cmp.Comparer(sameJSON)); diff != "" {
		t.Error(diff)
	}
	membership(take(r.Block(7)), "member", "kicked")
	if list := take(r.Block(7)); len(list) != 0 {
		t.Errorf("blocked twice: %+v", list)
	}
	membership(take(r.Unblock(7)), "kicked", "member")
	r.done(r.Block(7))
	r.updates(fields{"offset": -1})
	list = r.updates(nil)
	r.updates(fields{"offset": list[0].UpdateID + 1})
	list = take(r.Start(7, ""))
	membership(list, "kicked", "member") // Restart unblocks first
	if len(list) != 2 || list[1].Message.Text != "/start" {
		t.Errorf("%+v", list)
	}
	if list := take(r.Deactivate(7)); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestActsInAGroupBecomeUpdates(t *testing.T) {
	r := newRig(t, Options{StrictChats: true})
	r.limit(Limits{})
	r.call("getMe", nil)
	take, membership := r.take, r.membership
	membership(take(r.Write(-5, "hi")), "left", "member")
	membership(take(r.Restrict(-5)), "member", "restricted")
	if list := take(r.Write(-5, "hi")); len(list) != 1 || list[0].Message == nil {
		t.Errorf("%+v", list)
	}
	r.refused(r.send(-5), 400, "Bad Request: not enough rights to send text messages to the chat")
	membership(take(r.Kick(-5)), "restricted", "kicked")
	membership(take(r.Unblock(-5)), "kicked", "member")
	list := take(r.Migrate(-5, -1005))
	if len(list) != 2 || list[0].Message.MigrateTo != -1005 || list[0].Message.Chat.ID != -5 ||
		list[1].Message.MigrateFrom != -5 || list[1].Message.Chat.ID != -1005 {
		t.Errorf("%+v", list)
	}
}

func sameJSON(a, b json.RawMessage) bool { return string(a) == string(b) }

func TestPressedButton(t *testing.T) {
	inBubble(t, Options{}, func(r *rig) {
		r.accepted(r.call("sendMessage", fields{
			"chat_id": 7, "text": "x", "reply_markup": `{"inline_keyboard":[[{"text":"OK","callback_data":"order:1"}]]}`,
		}), nil)
		r.call("getMe", nil)
		r.done(r.Press(7, 1, "order:1"))
		list := r.updates(nil)
		if len(list) != 1 || list[0].CallbackQuery == nil {
			t.Fatalf("%+v", list)
		}
		query := list[0].CallbackQuery
		if query.Data != "order:1" || query.From.ID != 7 || query.Message.MessageID != 1 || query.ID == "" ||
			len(query.Message.ReplyMarkup) == 0 {
			t.Errorf("%+v", query)
		}
		r.accepted(r.call("answerCallbackQuery", fields{"callback_query_id": query.ID, "text": "Thanks"}), nil)
		const old = "Bad Request: query is too old and response timeout expired or query ID is invalid"
		r.refused(r.call("answerCallbackQuery", fields{"callback_query_id": "1"}), 400, old)
		time.Sleep(15 * time.Minute)
		r.refused(r.call("answerCallbackQuery", fields{"callback_query_id": query.ID}), 400, old)
		r.done(r.Block(7))
		if err := r.Press(7, 1, "order:1"); err == nil {
			t.Error("a button was pressed in a blocked chat")
		}
	})
}
