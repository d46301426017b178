package sandbox

import (
	"net/http"
	"testing"
)

func TestEditMessageText(t *testing.T) {
	r := newRig(t, Options{})
	var sent messageObject
	r.accepted(r.send(7), &sent)
	edit := fields{"chat_id": 7, "message_id": sent.MessageID, "text": "<b>new</b>", "parse_mode": "HTML"}
	var edited messageObject
	r.accepted(r.call("editMessageText", edit), &edited)
	if edited.Text != "new" || edited.MessageID != sent.MessageID || edited.EditDate == 0 || len(edited.Entities) != 1 {
		t.Errorf("%+v", edited)
	}
	m := r.Messages()[0]
	if m.VisibleText != "new" || m.EditedAt.IsZero() || len(r.Messages()) != 1 {
		t.Errorf("%+v", m)
	}
	r.refused(r.call("editMessageText", edit), 400, "Bad Request: message is not modified: specified new message content "+
		"and reply markup are exactly the same as a current content and reply markup of the message")
	edit["reply_markup"] = `{"inline_keyboard":[[{"text":"OK","callback_data":"1"}]]}`
	r.accepted(r.call("editMessageText", edit), nil)
	for want, parameters := range map[string]fields{
		"message to edit not found": {"chat_id": 7, "message_id": 99, "text": "x"},
		"message text is empty":     {"chat_id": 7, "message_id": sent.MessageID},
		"text must be non-empty":    {"chat_id": 7, "message_id": sent.MessageID, "text": " "},
		"chat_id is empty":          {"message_id": sent.MessageID, "text": "x"},
	} {
		r.refused(r.call("editMessageText", parameters), 400, "Bad Request: "+want)
	}
	for _, id := range []any{nil, "abc", -1} {
		r.refused(r.call("editMessageText", fields{"chat_id": 7, "message_id": id, "text": "x"}),
			400, "Bad Request: message to edit not found")
	}
	r.refused(r.call("editMessageText", fields{"chat_id": 8, "message_id": sent.MessageID, "text": "x"}),
		400, "Bad Request: message to edit not found")
	answer, err := r.do(request(http.MethodGet, r.url+"/bot9:x/editMessageText?chat_id=7&message_id=1&text=x", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	r.refused(answer, 400, "Bad Request: message can't be edited")
	if got := r.Stats(); got.Delivered != 1 || got.TooManyRequests != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPhotoHasNoTextToEdit(t *testing.T) {
	r := newRig(t, Options{})
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": "https://a.b/c"}), nil)
	r.refused(r.call("editMessageText", fields{"chat_id": 7, "message_id": 1, "text": "x"}),
		400, "Bad Request: there is no text in the message to edit")
}

func TestGetChat(t *testing.T) {
	r := newRig(t, Options{StrictChats: true})
	r.refused(r.call("getChat", fields{"chat_id": 7}), 400, "Bad Request: chat not found")
	if err := r.Start(7, ""); err != nil {
		t.Fatal(err)
	}
	var chat chatObject
	r.accepted(r.call("getChat", fields{"chat_id": 7}), &chat)
	if chat != (chatObject{ID: 7, FirstName: "Customer 7", Type: "private"}) {
		t.Errorf("%+v", chat)
	}
	if err := r.Block(7); err != nil {
		t.Fatal(err)
	}
	r.accepted(r.call("getChat", fields{"chat_id": 7}), nil)
}
