package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/telegram/sandbox/markup"
)

func TestReplies(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.done(r.Write(7, "a question"))
	r.accepted(r.send(7), nil)
	const missing = "Bad Request: message to be replied not found"
	for name, c := range map[string]struct {
		parameters fields
		want       string
	}{
		"to the customer": {fields{"reply_parameters": fields{"message_id": 1}}, ""},
		"to the bot":      {fields{"reply_parameters": fields{"message_id": 2}}, ""},
		"the older form":  {fields{"reply_to_message_id": 99}, missing},
		"to nothing":      {fields{"reply_parameters": fields{"message_id": 99}}, missing},
		"to another chat": {fields{"reply_parameters": fields{"message_id": 1, "chat_id": 8}}, missing},
		"not that strict": {fields{"reply_parameters": fields{"message_id": 99, "allow_sending_without_reply": true}}, ""},
		"broken":          {fields{"reply_parameters": "{"}, "Bad Request: can't parse reply parameters JSON object"},
		"a number":        {fields{"reply_parameters": 5}, "Bad Request: object expected as reply parameters"},
		"an empty object": {fields{"reply_parameters": "{}"}, ""},
		"no message":      {fields{"reply_parameters": fields{"quote": "a"}}, `Bad Request: can't find field "message_id"`},
		"an empty chat":   {fields{"reply_parameters": fields{"message_id": 1, "chat_id": ""}}, ""},
		"a chat as text":  {fields{"reply_parameters": fields{"message_id": "1", "chat_id": "7"}}, ""},
		"a chat by name":  {fields{"reply_parameters": fields{"message_id": 1, "chat_id": "@anna"}}, "Bad Request: chat not found"},
		"a quote":         {fields{"reply_parameters": fields{"message_id": 1, "quote": "question"}}, ""},
		"another quote":   {fields{"reply_parameters": fields{"message_id": 1, "quote": "answer"}}, "Bad Request: QUOTE_TEXT_INVALID"},
		"a broken quote": {fields{"reply_parameters": fields{"message_id": 1, "quote": "<b>a", "quote_parse_mode": "HTML"}},
			`Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`},
	} {
		c.parameters["chat_id"], c.parameters["text"] = 7, "x"
		answer := r.call("sendMessage", c.parameters)
		if c.want == "" {
			r.accepted(answer, nil)
			continue
		}
		t.Log(name)
		r.refused(answer, 400, c.want)
	}
}

// What has left the transcript may still be answered.
func TestReplyToAnOldMessage(t *testing.T) {
	r := newRig(t, Options{})
	for range maxLines + 1 {
		r.done(r.Write(7, "x"))
	}
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "reply_to_message_id": 1}), nil)
}

// The result of a reply has the message that it answers, and the quote.
func TestReplyIsShown(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	r.done(r.Write(7, "😀 a question, a question"))
	var sent messageObject
	r.accepted(r.call("sendMessage", fields{"chat_id": 7, "text": "x", "reply_parameters": fields{
		"message_id": 1, "quote": "<b>a question</b>", "quote_parse_mode": "HTML", "quote_position": 14,
	}}), &sent)
	if sent.ReplyTo == nil || sent.ReplyTo.MessageID != 1 || sent.ReplyTo.Text != "😀 a question, a question" {
		t.Errorf("%+v", sent.ReplyTo)
	}
	want := textQuote{"a question", []markup.Entity{{Type: "bold", Length: 10}}, 15, true}
	if sent.Quote == nil || !cmp.Equal(*sent.Quote, want) {
		t.Errorf("%+v", sent.Quote)
	}
	sent = messageObject{}
	r.accepted(r.call("sendMessage", fields{"chat_id": 8, "text": "x", "reply_parameters": fields{"message_id": 1, "chat_id": 7}}), &sent)
	if sent.ReplyTo != nil || sent.ExternalReply == nil || sent.ExternalReply.MessageID != 1 || sent.ExternalReply.Chat.ID != 7 {
		t.Errorf("%+v", sent)
	}
}
