package sandbox

import "testing"

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
		"to the customer":  {fields{"reply_parameters": fields{"message_id": 1}}, ""},
		"to the bot":       {fields{"reply_parameters": fields{"message_id": 2}}, ""},
		"the older form":   {fields{"reply_to_message_id": 99}, missing},
		"to nothing":       {fields{"reply_parameters": fields{"message_id": 99}}, missing},
		"to another chat":  {fields{"reply_parameters": fields{"message_id": 1, "chat_id": 8}}, missing},
		"not that strict":  {fields{"reply_parameters": fields{"message_id": 99, "allow_sending_without_reply": true}}, ""},
		"broken parameter": {fields{"reply_parameters": "[]"}, "Bad Request: can't parse reply parameters JSON object"},
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
