package sandbox

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// methodCase is a call and what it is answered: a refusal, or a part of the
// result.
type methodCase struct {
	method     string
	parameters fields
	refused    string // after "Bad Request: "
	contains   string
}

func (r *rig) runCases(cases []methodCase) {
	r.t.Helper()
	for _, c := range cases {
		answer := r.call(c.method, c.parameters)
		if c.refused != "" {
			r.refused(answer, 400, "Bad Request: "+c.refused)
			continue
		}
		if !answer.OK || !strings.Contains(string(answer.Result), c.contains) {
			r.t.Errorf("%s %v: %s\nwant %s", c.method, c.parameters, answer.body, c.contains)
		}
	}
}

func TestContents(t *testing.T) {
	r := newRig(t, Options{Seed: 1})
	r.limit(Limits{})
	r.runCases([]methodCase{
		{"sendVideo", fields{"chat_id": 7, "video": "https://a.b/c.mp4", "duration": 3, "caption": "x"}, "", `"duration":3,"file_id"`},
		{"sendAnimation", fields{"chat_id": 7, "animation": "https://a.b/c.gif"}, "", `"animation":{`},
		{"sendAudio", fields{"chat_id": 7, "audio": "https://a.b/c.mp3", "title": "Song"}, "", `"title":"Song"`},
		{"sendVoice", fields{"chat_id": 7, "voice": "https://a.b/c.oga"}, "", `"voice":{`},
		{"sendVideoNote", fields{"chat_id": 7}, "there is no video note in the request", ""},
		{"sendSticker", fields{"chat_id": 7, "sticker": "https://a.b/c.webp", "emoji": "x"}, "", `"sticker":{"emoji":"x"`},
		{"sendLocation", fields{"chat_id": 7, "latitude": 52.5, "longitude": "13.4"}, "", `"location":{"latitude":52.5,"longitude":13.4}`},
		{"sendLocation", fields{"chat_id": 7, "latitude": 52.5}, "longitude is empty", ""},
		{"sendLocation", fields{"chat_id": 7, "latitude": 91, "longitude": 0}, "wrong location specified", ""},
		{"sendVenue", fields{"chat_id": 7, "latitude": 1, "longitude": 2, "title": "Shop", "address": "Street 1"}, "", `"venue":{"location"`},
		{"sendContact", fields{"chat_id": 7, "phone_number": "+491", "first_name": "Anna"}, "", `"contact":{"phone_number":"+491"`},
		{"sendContact", fields{"chat_id": 7, "first_name": "Anna"}, `parameter "phone_number" is required`, ""},
		{"sendPoll", fields{"chat_id": 7, "question": "Tea?", "options": []any{"Yes", fields{"text": "No"}}}, "", `"question":"Tea?"`},
		{"sendPoll", fields{"chat_id": 7, "question": "Tea?", "options": "[]"}, "poll must have at least 1 option", ""},
		{"sendDice", fields{"chat_id": 7}, "", `"emoji":"🎲","value":`},
		{"sendInvoice", fields{"chat_id": 7, "title": "Tea"}, `parameter "description" is required`, ""},
	})
}

func TestDownload(t *testing.T) {
	r := newRig(t, Options{})
	var picture, body bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	writer := multipart.NewWriter(&body)
	_ = writer.WriteField("chat_id", "7")
	part, _ := writer.CreateFormFile("photo", "a.png")
	_, _ = part.Write(picture.Bytes())
	_ = writer.Close()
	answer, err := r.do(request(http.MethodPost, r.url+token+"sendPhoto", writer.FormDataContentType(), body.String()))
	if err != nil {
		t.Fatal(err)
	}
	var sent messageObject
	r.accepted(answer, &sent)
	if p := sent.Photo[0]; p.Width != 30 || p.Height != 20 {
		t.Errorf("%+v", p)
	}
	var file fileObject
	r.accepted(r.call("getFile", fields{"file_id": sent.Photo[0].FileID}), &file)
	response, err := r.client.Get(r.url + "/file" + token + file.FilePath)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	got, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Equal(got, picture.Bytes()) {
		t.Errorf("%v, %d bytes", err, len(got))
	}
	r.refused(r.call("getFile", fields{"file_id": "x"}), 400, "Bad Request: invalid file_id")
	if answer, err := r.do(request(http.MethodGet, r.url+"/file"+token+"photos/no.png", "", "")); err != nil || answer.status != 404 {
		t.Errorf("%v, %d", err, answer.status)
	}
}

func TestAlbum(t *testing.T) {
	r := newRig(t, Options{})
	photo := fields{"type": "photo", "media": "https://a.b/c.jpg", "caption": "<b>x</b>", "parse_mode": "HTML"}
	video := fields{"type": "video", "media": "https://a.b/c.mp4"}
	var album []messageObject
	r.accepted(r.call("sendMediaGroup", fields{"chat_id": 7, "media": []fields{photo, video, photo}}), &album)
	if len(album) != 3 || album[0].Album == "" || album[0].Album != album[2].Album || album[0].Caption != "x" || album[1].Video == nil {
		t.Errorf("%+v", album)
	}
	if got := r.Stats(); got.Delivered != 3 || got.TooManyRequests != 0 {
		t.Errorf("%+v", got)
	}
	r.limit(Limits{})
	document := fields{"type": "document", "media": "https://a.b/c.pdf"}
	r.runCases([]methodCase{
		{"sendMediaGroup", fields{"chat_id": 7}, `parameter "media" is required`, ""},
		{"sendMediaGroup", fields{"chat_id": 7, "media": "{}"}, "expected an Array of InputMedia", ""},
		{"sendMediaGroup", fields{"chat_id": 7, "media": []fields{photo}}, "media group must include 2-10 items", ""},
		{"sendMediaGroup", fields{"chat_id": 7, "media": []fields{photo, document}},
			"can't use the media of the specified type in the album", ""},
		{"sendMediaGroup", fields{"chat_id": 7, "media": []fields{photo, {"type": "photo"}}}, "can't parse InputMedia: media not found", ""},
		{"sendMediaGroup", fields{"chat_id": 7, "media": []fields{photo, {"type": "animation", "media": "x"}}},
			`can't parse InputMedia: type "animation" can't be used in sendMediaGroup`, ""},
	})
}

func TestEdits(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": "https://a.b/c.jpg", "caption": "old"}), nil)
	r.accepted(r.send(7), nil)
	r.accepted(r.call("sendPoll", fields{"chat_id": 7, "question": "Tea?", "options": []any{"Yes", "No"}}), nil)
	keyboard := fields{"inline_keyboard": [][]fields{{{"text": "a", "callback_data": "b"}}}}
	r.runCases([]methodCase{
		{"editMessageCaption", fields{"chat_id": 7, "message_id": 1, "caption": "new"}, "", `"caption":"new"`},
		{"editMessageCaption", fields{"chat_id": 7, "message_id": 2, "caption": "new"}, "there is no caption in the message to edit", ""},
		{"editMessageReplyMarkup", fields{"chat_id": 7, "message_id": 2, "reply_markup": keyboard}, "", `"callback_data":"b"`},
		{"editMessageReplyMarkup", fields{"chat_id": 7, "message_id": 2, "reply_markup": keyboard},
			strings.TrimPrefix(errNotModified.description, "Bad Request: "), ""},
		{"editMessageMedia", fields{"chat_id": 7, "message_id": 1, "media": fields{"type": "video", "media": "https://a.b/c.mp4"}}, "", `"video":{`},
		{"editMessageMedia", fields{"chat_id": 7, "message_id": 1, "media": "x"}, "can't parse input media JSON object", ""},
		{"stopPoll", fields{"chat_id": 7, "message_id": 3}, "", `"is_closed":true`},
		{"stopPoll", fields{"chat_id": 7, "message_id": 3}, "poll has already been closed", ""},
		{"stopPoll", fields{"chat_id": 7, "message_id": 2}, "message with poll to stop not found", ""},
	})
}

func TestDeleting(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	for range 4 {
		r.accepted(r.send(7), nil)
	}
	r.done(r.Write(7, "mine"))
	r.runCases([]methodCase{
		{"deleteMessage", fields{"chat_id": 7, "message_id": 1}, "", "true"},
		{"deleteMessage", fields{"chat_id": 7, "message_id": 1}, "message to delete not found", ""},
		{"deleteMessage", fields{"message_id": 1}, "chat identifier is not specified", ""},
		{"deleteMessage", fields{"chat_id": 7}, "message identifier is not specified", ""},
		{"deleteMessage", fields{"chat_id": 7, "message_id": 5}, "", "true"},
		{"deleteMessages", fields{"chat_id": 7, "message_ids": []int{1, 2, 3, 99}}, "", "true"},
		{"deleteMessages", fields{"chat_id": 7, "message_ids": "[]"}, "message identifiers are not specified", ""},
		{"editMessageText", fields{"chat_id": 7, "message_id": 2, "text": "x"}, "message to edit not found", ""},
	})
	deleted := 0
	for _, m := range r.Messages() {
		if !m.DeletedAt.IsZero() {
			deleted++
		}
	}
	if deleted != 3 || len(r.Messages()) != 4 {
		t.Errorf("%d deleted of %d", deleted, len(r.Messages()))
	}
}

func TestCopies(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.done(r.Write(7, "a question"))
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": "https://a.b/c.jpg", "caption": "old"}), nil)
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "secret", "protect_content": true}), nil)
	r.runCases([]methodCase{
		{"forwardMessage", fields{"chat_id": 8, "from_chat_id": 7, "message_id": 1}, "", `"forward_origin":{"type":"user"`},
		{"copyMessage", fields{"chat_id": 8, "from_chat_id": 7, "message_id": 2, "caption": "new"}, "", `{"message_id":5}`},
		{"copyMessage", fields{"chat_id": 8, "from_chat_id": 7, "message_id": 3},
			"message has protected content and can't be forwarded", ""},
		{"copyMessage", fields{"chat_id": 8, "message_id": 3}, `parameter "from_chat_id" is required`, ""},
		{"forwardMessage", fields{"chat_id": 8, "from_chat_id": 7, "message_id": 99}, "message to forward not found", ""},
		{"copyMessages", fields{"chat_id": 8, "from_chat_id": 7, "message_ids": []int{1, 2, 99}, "remove_caption": true}, "", `[{"message_id":6},{"message_id":7}]`},
		{"forwardMessages", fields{"chat_id": 8, "from_chat_id": 7, "message_ids": []int{98, 99}}, "there are no messages to forward", ""},
	})
	messages := r.Messages()
	if messages[3].VisibleText != "new" || messages[5].VisibleText != "" {
		t.Errorf("%+v", messages)
	}
}

func TestChatsAndBots(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.accepted(r.send(-1001234567890), nil)
	const group = -1001234567890
	r.runCases([]methodCase{
		{"pinChatMessage", fields{"chat_id": group, "message_id": 1}, "", "true"},
		{"getChat", fields{"chat_id": group}, "", `"pinned_message":{"message_id":1`},
		{"unpinChatMessage", fields{"chat_id": group}, "", "true"},
		{"unpinChatMessage", fields{"chat_id": group}, "message to unpin not found", ""},
		{"setMessageReaction", fields{"chat_id": group, "message_id": 1, "reaction": []fields{{"type": "emoji", "emoji": "👍"}}}, "", "true"},
		{"setMessageReaction", fields{"chat_id": group, "message_id": 9}, "message to react not found", ""},
		{"getChatMember", fields{"chat_id": group, "user_id": 123456}, "", `"status":"member"`},
		{"getChatMember", fields{"chat_id": group, "user_id": 1001234567890}, "", `"status":"creator"`},
		{"getChatMember", fields{"chat_id": group, "user_id": 5}, "user not found", ""},
		{"getChatMemberCount", fields{"chat_id": group}, "", "2"},
		{"getChatAdministrators", fields{"chat_id": group}, "", `"status":"creator"`},
		{"getChatAdministrators", fields{"chat_id": 7}, "there are no administrators in the private chat", ""},
		{"getMyName", nil, "", `"name":"Sandbox 123456"`},
		{"setMyName", fields{"name": "Shop", "language_code": "de"}, "", "true"},
		{"getMyName", fields{"language_code": "de"}, "", `"name":"Shop"`},
		{"setMyDescription", fields{"description": strings.Repeat("x", 513)}, "BOT_DESCRIPTION_INVALID", ""},
		{"getChatMenuButton", nil, "", `{"type":"commands"}`},
		{"setChatMenuButton", fields{"menu_button": fields{"type": "web_app", "text": "x", "web_app": fields{"url": "https://a.b"}}}, "", "true"},
		{"getChatMenuButton", fields{"chat_id": 7}, "", `"web_app":{"url":"https://a.b"}`},
		{"createForumTopic", fields{"chat_id": group, "name": "Orders"}, "", `"name":"Orders"`},
		{"createForumTopic", fields{"chat_id": 7, "name": "Orders"}, "the chat is not a forum", ""},
		{"sendMessage", fields{"chat_id": group, "text": "x", "message_thread_id": 2}, "", `"message_thread_id":2,"is_topic_message":true`},
		{"sendMessage", fields{"chat_id": group, "text": "x", "message_thread_id": 9}, "message thread not found", ""},
		{"closeForumTopic", fields{"chat_id": group, "message_thread_id": 2}, "", "true"},
		{"sendMessage", fields{"chat_id": group, "text": "x", "message_thread_id": 2}, "TOPIC_CLOSED", ""},
		{"deleteForumTopic", fields{"chat_id": group, "message_thread_id": 2}, "", "true"},
		{"leaveChat", fields{"chat_id": group}, "", "true"},
		{"close", nil, "", "true"},
		{"logOut", nil, "", "true"},
	})
	r.refused(r.call("getMe", nil), 400, "Logged out")
}

// The steps of a payment: the bill, the question to the bot, its consent, the
// message about it.
func TestPayment(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	bill := fields{"chat_id": 7, "title": "Tea", "description": "Green", "payload": "A-1", "currency": "EUR",
		"prices": []fields{{"label": "Tea", "amount": 500}, {"label": "Post", "amount": 250}}}
	r.accepted(r.call("sendInvoice", bill), nil)
	ask := func() string {
		r.done(r.Pay(7, 1))
		var updates []struct {
			ID    int64 `json:"update_id"`
			Query struct {
				ID     string `json:"id"`
				Amount int    `json:"total_amount"`
			} `json:"pre_checkout_query"`
		}
		r.accepted(r.call("getUpdates", nil), &updates)
		last := updates[len(updates)-1]
		if last.Query.Amount != 750 {
			t.Errorf("%+v", updates)
		}
		r.accepted(r.call("getUpdates", fields{"offset": last.ID + 1}), nil)
		return last.Query.ID
	}
	r.runCases([]methodCase{
		{"answerPreCheckoutQuery", fields{"pre_checkout_query_id": ask()}, `parameter "error_message" is required`, ""},
		{"answerPreCheckoutQuery", fields{"pre_checkout_query_id": ask(), "error_message": "sold out"}, "", "true"},
		{"answerPreCheckoutQuery", fields{"pre_checkout_query_id": ask(), "ok": true}, "", "true"},
		{"answerPreCheckoutQuery", fields{"pre_checkout_query_id": "1", "ok": true},
			"query is too old and response timeout expired or query ID is invalid", ""},
	})
	var updates []json.RawMessage
	r.accepted(r.call("getUpdates", nil), &updates)
	if len(updates) != 1 || !strings.Contains(string(updates[0]), `"invoice_payload":"A-1"`) {
		t.Errorf("%s", updates)
	}
}

func TestInlineQuery(t *testing.T) {
	r := newRig(t, Options{})
	r.call("getMe", nil)
	r.control("POST", "/sandbox/chats/7/query", `{"query":"tea"}`, 200, nil)
	var updates []struct {
		Query struct {
			ID    string `json:"id"`
			Query string `json:"query"`
		} `json:"inline_query"`
	}
	r.accepted(r.call("getUpdates", nil), &updates)
	if len(updates) != 1 || updates[0].Query.Query != "tea" {
		t.Fatalf("%+v", updates)
	}
	results := []fields{{"type": "article", "id": "1", "title": "Tea", "input_message_content": fields{"message_text": "Tea"}}}
	r.runCases([]methodCase{
		{"answerInlineQuery", fields{"inline_query_id": updates[0].Query.ID, "results": results}, "", "true"},
		{"answerInlineQuery", fields{"inline_query_id": updates[0].Query.ID, "results": results},
			"query is too old and response timeout expired or query ID is invalid", ""},
		{"answerInlineQuery", fields{"inline_query_id": "1", "results": "{"}, "can't parse results JSON object", ""},
	})
}
