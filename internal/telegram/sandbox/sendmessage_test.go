package sandbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"notifier/internal/telegram/sandbox/markup"
)

func TestSendMessageRefusals(t *testing.T) {
	const grin = "\U0001F600" // two UTF-16 units, one code point
	for name, c := range map[string]struct {
		parameters fields
		want       string // after "Bad Request: "; empty means accepted
	}{
		"no text":                 {fields{"chat_id": 1}, "message text is empty"},
		"empty text":              {fields{"chat_id": 1, "text": ""}, "message text is empty"},
		"blank text":              {fields{"chat_id": 1, "text": " \n\t "}, "text must be non-empty"},
		"only markup":             {fields{"chat_id": 1, "text": "<b></b>", "parse_mode": "HTML"}, "text must be non-empty"},
		"4096 characters":         {fields{"chat_id": 1, "text": strings.Repeat("ü", 4096)}, ""},
		"4097 characters":         {fields{"chat_id": 1, "text": strings.Repeat("ü", 4097)}, "message is too long"},
		"4096 beyond the BMP":     {fields{"chat_id": 1, "text": strings.Repeat(grin, 4096)}, ""},
		"4097 beyond the BMP":     {fields{"chat_id": 1, "text": strings.Repeat(grin, 4097)}, "message is too long"},
		"4096 after parsing":      {fields{"chat_id": 1, "text": strings.Repeat("&lt;", 4096), "parse_mode": "HTML"}, ""},
		"4096 after trimming":     {fields{"chat_id": 1, "text": "\n" + strings.Repeat("x", 4096) + "  "}, ""},
		"32768 bytes of markup":   {fields{"chat_id": 1, "text": strings.Repeat("<b></b>", 4681) + "x", "parse_mode": "HTML"}, ""},
		"32769 bytes":             {fields{"chat_id": 1, "text": strings.Repeat("<b></b>", 4681) + "xy", "parse_mode": "HTML"}, "text is too long"},
		"unknown parse mode":      {fields{"chat_id": 1, "text": "x", "parse_mode": "BBCode"}, "unsupported parse_mode"},
		"bad HTML":                {fields{"chat_id": 1, "text": "ü<br>", "parse_mode": "HTML"}, `can't parse entities: Unsupported start tag "br" at byte offset 2`},
		"bad HTML without a mode": {fields{"chat_id": 1, "text": "<br>"}, ""},
		"broken entities":         {fields{"chat_id": 1, "text": "x", "entities": "{"}, ""},
		"entities in an object":   {fields{"chat_id": 1, "text": "x", "entities": "{}"}, ""},
		"a topic":                 {fields{"chat_id": 1, "text": "x", "message_thread_id": 5}, "message thread not found"},
		"a topic of a group":      {fields{"chat_id": -1, "text": "x", "message_thread_id": 5}, ""},
		"no chat":                 {fields{"text": "x"}, "chat_id is empty"},
		"chat zero":               {fields{"chat_id": 0, "text": "x"}, "chat not found"},
		"a number and letters":    {fields{"chat_id": "5abc", "text": "x"}, ""},
		"a space before":          {fields{"chat_id": " 5", "text": "x"}, "chat not found"},
		"chat of letters":         {fields{"chat_id": "anna", "text": "x"}, "chat not found"},
		"chat by username":        {fields{"chat_id": "@anna", "text": "x"}, "chat not found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			answer := r.call("sendMessage", c.parameters)
			if c.want == "" {
				r.accepted(answer, nil)
				return
			}
			r.refused(answer, 400, "Bad Request: "+c.want)
			if n := r.Stats().Delivered; n != 0 {
				t.Errorf("%d delivered", n)
			}
		})
	}
}

func TestChatStates(t *testing.T) {
	const person, group, supergroup = 7900000001, -4200, -1001234567890
	for name, c := range map[string]struct {
		chatID int64
		act    func(*Sandbox, int64) error
		code   int
		want   string
	}{
		"blocked":                {person, (*Sandbox).Block, 403, "Forbidden: bot was blocked by the user"},
		"deactivated":            {person, (*Sandbox).Deactivate, 403, "Forbidden: user is deactivated"},
		"kicked from group":      {group, (*Sandbox).Kick, 403, "Forbidden: bot was kicked from the group chat"},
		"kicked from supergroup": {supergroup, (*Sandbox).Kick, 403, "Forbidden: bot was kicked from the supergroup chat"},
		"restricted":             {group, (*Sandbox).Restrict, 400, "Bad Request: not enough rights to send text messages to the chat"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.limit(Limits{})
			r.accepted(r.send(c.chatID), nil)
			if err := c.act(r.Sandbox, c.chatID); err != nil {
				t.Fatal(err)
			}
			r.refused(r.send(c.chatID), c.code, c.want)
			if answer := r.call("sendChatAction", fields{"chat_id": c.chatID, "action": "typing"}); answer.ErrorCode != c.code {
				t.Errorf("sendChatAction: %s", answer.body)
			}
			err := r.Unblock(c.chatID)
			if name == "deactivated" {
				if err == nil {
					t.Error("a deactivated account came back")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.accepted(r.send(c.chatID), nil)
		})
	}
}

func TestMigratedGroup(t *testing.T) {
	r := newRig(t, Options{StrictChats: true})
	if err := r.Write(-500, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := r.Migrate(-500, -1005550000001); err != nil {
		t.Fatal(err)
	}
	answer := r.send(-500)
	r.refused(answer, 400, "Bad Request: group chat was upgraded to a supergroup chat")
	if answer.Parameters.MigrateToChatID != -1005550000001 {
		t.Errorf("parameters %+v", answer.Parameters)
	}
	var delivered messageObject
	r.accepted(r.send(-1005550000001), &delivered)
	if delivered.Chat.Type != "supergroup" || delivered.Chat.Title == "" {
		t.Errorf("chat %+v", delivered.Chat)
	}
}

func TestStrictChats(t *testing.T) {
	r := newRig(t, Options{StrictChats: true})
	r.refused(r.send(5), 400, "Bad Request: chat not found")
	r.refused(r.call("sendChatAction", fields{"chat_id": 5, "action": "typing"}), 400, "Bad Request: chat not found")
	if err := r.Start(5, "payload"); err != nil {
		t.Fatal(err)
	}
	r.accepted(r.send(5), nil)
}

func TestDeliveredMessage(t *testing.T) {
	r := newRig(t, Options{})
	var result messageObject
	r.accepted(r.call("sendMessage", fields{
		"chat_id": 7, "text": "  \U0001F600 <b>A\tB</b>\r\n<i>C</i> ", "parse_mode": "html",
	}), &result)
	want := messageObject{
		MessageID: 1,
		From:      &user{ID: 123456, IsBot: true, FirstName: "Sandbox 123456", Username: "sandbox_123456_bot"},
		Chat:      chatObject{ID: 7, FirstName: "Customer 7", Type: "private"},
		Text:      "\U0001F600 A B\nC",
		Entities:  []markup.Entity{{Type: "bold", Offset: 3, Length: 3}, {Type: "italic", Offset: 7, Length: 1}},
	}
	if diff := cmp.Diff(want, result, cmpopts.IgnoreFields(messageObject{}, "Date")); diff != "" {
		t.Error(diff)
	}
	kept := r.Messages()[0]
	if kept.Text != "  \U0001F600 <b>A\tB</b>\r\n<i>C</i> " || kept.VisibleText != result.Text ||
		kept.ParseMode != "HTML" || kept.ReceivedAt.Unix() != result.Date {
		t.Errorf("kept %+v", kept)
	}
}

func TestGivenEntities(t *testing.T) {
	r := newRig(t, Options{})
	var result messageObject
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": " <b>", "entities": []markup.Entity{
		{Type: "bold", Offset: 1, Length: 2},
		{Type: "bot_command", Offset: 0, Length: 3}, // found by the server, not given
		{Type: "text_link", Length: 3, URL: "https://a.b/"},
	}}), &result)
	want := []markup.Entity{{Type: "text_link", Length: 3, URL: "https://a.b/"}, {Type: "bold", Offset: 1, Length: 2}}
	if diff := cmp.Diff(want, result.Entities); diff != "" || result.Text != " <b>" {
		t.Errorf("%s: %s", result.Text, diff)
	}
}

func TestGivenEntitiesAreJudged(t *testing.T) {
	for entities, want := range map[string]string{ // after "Bad Request: "; empty means accepted
		`[{"offset":0,"length":50,"type":"bold"}]`:                              "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 50",
		`[{"offset":1,"length":2,"type":"bold"}]`:                               "entity begins in a middle of a UTF-16 symbol at byte offset 4",
		`[{"offset":-1,"length":1,"type":"bold"}]`:                              "receive an entity with incorrect offset -1",
		`[{"offset":0,"length":1}]`:                                             `can't parse MessageEntity: Can't find field "type"`,
		`[{"offset":0,"length":1,"type":""}]`:                                   "can't parse MessageEntity: Type is not specified",
		`[{"offset":0,"length":1,"type":"zzz"}]`:                                "can't parse MessageEntity: Unsupported type specified",
		`[{"length":1,"type":"bold"}]`:                                          `can't parse MessageEntity: Can't find field "offset"`,
		`[{"offset":0,"length":1e1,"type":"bold"}]`:                             `can't parse MessageEntity: Field "length" must be a valid Number`,
		`[{"offset":[],"length":1,"type":"bold"}]`:                              `can't parse MessageEntity: Field "offset" must be a Number`,
		`[{"offset":0,"length":2,"type":"text_link"}]`:                          `can't parse MessageEntity: Can't find field "url"`,
		`[{"offset":0,"length":2,"type":"text_link","url":"http://localhost"}]`: "entity URL 'http://localhost' is invalid: Wrong HTTP URL",
		`[{"offset":0,"length":2,"type":"text_mention"}]`:                       `can't parse MessageEntity: Can't find field "user"`,
		`[{"offset":0,"length":2,"type":"text_mention","user":{}}]`:             `can't parse MessageEntity: Can't find field "id"`,
		`[{"offset":0,"length":2,"type":"custom_emoji"}]`:                       `can't parse MessageEntity: Can't find field "custom_emoji_id"`,
		`[{"offset":0,"length":2,"type":"custom_emoji","custom_emoji_id":"0"}]`: "invalid custom emoji identifier specified",
		`[{"offset":0,"length":2,"type":"date_time"}]`:                          `can't parse MessageEntity: Can't find field "unix_time"`,
		`[{"offset":0,"length":2,"type":"date_time","unix_time":0}]`:            "invalid date specified",
		`[7]`: "can't parse MessageEntity: expected an Object",
		`[{"offset":"0","length":"2","type":"bold"}]`: "",
		`[{"offset":0,"length":99,"type":"hashtag"}]`: "", // those the server finds itself
	} {
		r := newRig(t, Options{})
		answer := r.call("sendMessage", fields{"chat_id": 7, "text": "\U0001F600a", "entities": entities})
		if want == "" {
			r.accepted(answer, nil)
			continue
		}
		t.Log(entities)
		r.refused(answer, 400, "Bad Request: "+want)
	}
}

// What a text has by itself is marked on demand, a bot's own marks first.
func TestFindEntities(t *testing.T) {
	r := newRig(t, Options{FindEntities: true})
	r.limit(Limits{})
	var sent messageObject
	r.accepted(r.call("sendMessage", fields{
		"chat_id": 7, "text": "<b>#tea</b> at <a href='https://a.b/'>e.com</a>, e.com /help", "parse_mode": "HTML",
	}), &sent)
	want := []markup.Entity{
		{Type: "hashtag", Length: 4}, {Type: "bold", Length: 4},
		{Type: "text_link", Offset: 8, Length: 5, URL: "https://a.b/"},
		{Type: "url", Offset: 15, Length: 5}, {Type: "bot_command", Offset: 21, Length: 5},
	}
	if diff := cmp.Diff(want, sent.Entities); diff != "" {
		t.Error(diff)
	}
}

func TestLinkPreviewOptions(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	for options, want := range map[string]string{
		`x`:                      "can't parse link preview options JSON object",
		`[]`:                     "object expected as link preview options",
		`{"is_disabled":"true"}`: `field "is_disabled" must be of type Boolean`,
	} {
		r.refused(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "link_preview_options": options}), 400, "Bad Request: "+want)
	}
	var sent messageObject
	r.accepted(r.call("sendMessage", fields{
		"chat_id": 7, "text": "x", "link_preview_options": `{"is_disabled":true,"url":"https://e.com"}`,
		"protect_content": true, "message_effect_id": "5104841245755180586",
	}), &sent)
	want := linkPreview{IsDisabled: true, URL: "https://e.com"}
	if sent.LinkPreview == nil || *sent.LinkPreview != want || !sent.Protected || sent.Effect != "5104841245755180586" {
		t.Errorf("%+v", sent)
	}
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "disable_web_page_preview": true}), &sent)
	if sent.LinkPreview == nil || !sent.LinkPreview.IsDisabled {
		t.Errorf("%+v", sent)
	}
}

func TestSendChatAction(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{BotPerSecond: 1, ChatPerSecond: 1})
	for range 5 { // no limit is spent
		r.accepted(r.call("sendChatAction", fields{"chat_id": 7, "action": "typing"}), nil)
	}
	r.accepted(r.send(7), nil)
	r.refused(r.call("sendChatAction", fields{"chat_id": 7}), 400, "Bad Request: wrong parameter action in request")
	r.refused(r.call("sendChatAction", fields{"action": "typing"}), 400, "Bad Request: chat_id is empty")
	if stats := r.Stats(); stats.Delivered != 1 || stats.Calls != 8 {
		t.Errorf("%+v", stats)
	}
}
