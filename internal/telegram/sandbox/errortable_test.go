package sandbox

import (
	"net/http"
	"strings"
	"testing"
)

// The chats of the table below.
const (
	somebody   = 7900000001
	somegroup  = -4200
	supergroup = -1001234567890
)

// errorRow is one refusal of sendMessage and what brings it about.
type errorRow struct {
	code        int
	description string
	act         func(*Sandbox) error // the state of the world, nil for a fresh one
	parameters  fields               // what is sent to somebody, "x" unless said otherwise
	invented    bool                 // only a fault answers so: the sandbox lacks what it would take
}

// errorTable is every refusal that sendMessage is known to meet.
var errorTable = []errorRow{
	// The chat does not take messages any more.
	{code: 403, description: "Forbidden: bot was blocked by the user",
		act: func(s *Sandbox) error { return s.Block(somebody) }},
	{code: 403, description: "Forbidden: user is deactivated",
		act: func(s *Sandbox) error { return s.Deactivate(somebody) }},
	{code: 403, description: "Forbidden: bot was kicked from the group chat",
		act: func(s *Sandbox) error { return s.Kick(somegroup) }, parameters: fields{"chat_id": somegroup}},
	{code: 403, description: "Forbidden: bot was kicked from the supergroup chat",
		act: func(s *Sandbox) error { return s.Kick(supergroup) }, parameters: fields{"chat_id": supergroup}},
	{code: 403, description: "Forbidden: the group chat was deleted",
		act: func(s *Sandbox) error { return s.Deactivate(somegroup) }, parameters: fields{"chat_id": somegroup}},
	{code: 403, description: "Forbidden: bot can't initiate conversation with a user", invented: true},
	{code: 403, description: "Forbidden: the bot can't send messages to the bot", invented: true},
	{code: 403, description: "Forbidden: bot can't send messages to bots", invented: true},
	{code: 403, description: "Forbidden: bot was kicked from the channel chat", invented: true},
	{code: 403, description: "Forbidden: bot is not a member of the group chat", invented: true},
	{code: 403, description: "Forbidden: bot is not a member of the supergroup chat", invented: true},
	{code: 403, description: "Forbidden: bot is not a member of the channel chat", invented: true},
	{code: 400, description: "Bad Request: group is deactivated", invented: true},

	// The chat has moved, or cannot be found.
	{code: 400, description: "Bad Request: group chat was upgraded to a supergroup chat",
		act: func(s *Sandbox) error { return s.Migrate(somegroup, supergroup) }, parameters: fields{"chat_id": somegroup}},
	{code: 400, description: "Bad Request: chat not found", parameters: fields{"chat_id": "@somebody"}},
	{code: 400, description: "Bad Request: chat_id is empty", parameters: fields{"chat_id": ""}},
	{code: 400, description: "Bad Request: private chat not found", invented: true},
	{code: 400, description: "Bad Request: PEER_ID_INVALID", invented: true},
	{code: 400, description: "Bad Request: CHANNEL_PRIVATE", invented: true},
	{code: 400, description: "Bad Request: USER_DELETED", invented: true},
	{code: 400, description: "Bad Request: have no access to the user", invented: true},

	// The bot lacks rights.
	{code: 400, description: "Bad Request: not enough rights to send text messages to the chat",
		act: func(s *Sandbox) error { return s.Restrict(somegroup) }, parameters: fields{"chat_id": somegroup}},
	{code: 400, description: "Bad Request: have no write access to the chat", invented: true},
	{code: 400, description: "Bad Request: have no rights to send a message", invented: true},
	{code: 400, description: "Bad Request: need administrator rights in the channel chat", invented: true},
	{code: 400, description: "Bad Request: CHAT_WRITE_FORBIDDEN", invented: true},
	{code: 400, description: "Bad Request: CHAT_RESTRICTED", invented: true},
	{code: 400, description: "Bad Request: USER_RESTRICTED", invented: true},
	{code: 400, description: "Bad Request: CHAT_ADMIN_REQUIRED", invented: true},
	{code: 400, description: "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN", invented: true},
	{code: 400, description: "Bad Request: CHAT_GUEST_SEND_FORBIDDEN", invented: true},
	{code: 400, description: "Bad Request: ALLOW_PAYMENT_REQUIRED_5", invented: true},
	{code: 400, description: "Bad Request: PRIVACY_PREMIUM_REQUIRED", invented: true},

	// The message it belongs to is gone.
	{code: 400, description: "Bad Request: message thread not found", parameters: fields{"message_thread_id": 5}},
	{code: 400, description: "Bad Request: message to be replied not found", parameters: fields{"reply_parameters": fields{"message_id": 99}}},
	{code: 400, description: "Bad Request: TOPIC_CLOSED", invented: true},
	{code: 400, description: "Bad Request: TOPIC_DELETED", invented: true},
	{code: 400, description: "Bad Request: reply message not found", invented: true},

	// The text is wrong.
	{code: 400, description: "Bad Request: message text is empty", parameters: fields{"text": ""}},
	{code: 400, description: "Bad Request: text must be non-empty", parameters: fields{"text": " \n "}},
	{code: 400, description: "Bad Request: message is too long", parameters: fields{"text": strings.Repeat("x", 4097)}},
	{code: 400, description: "Bad Request: text is too long", parameters: fields{"text": strings.Repeat("x", 32769)}},
	{code: 400, description: `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`,
		parameters: fields{"text": "<b>x", "parse_mode": "HTML"}},
	{code: 400, description: "Bad Request: can't parse entities: Can't find end of Bold entity at byte offset 3",
		parameters: fields{"text": "ü *x", "parse_mode": "MarkdownV2"}},
	{code: 400, description: "Bad Request: unsupported parse_mode", parameters: fields{"parse_mode": "BBCode"}},
	{code: 400, description: "Bad Request: entities too long", invented: true},
	{code: 400, description: "Bad Request: ENTITY_BOUNDS_INVALID", invented: true},

	// The keyboard is wrong.
	{code: 400, description: "Bad Request: can't parse reply keyboard markup JSON object", parameters: fields{"reply_markup": "{"}},
	{code: 400, description: "Bad Request: BUTTON_DATA_INVALID",
		parameters: fields{"reply_markup": `{"inline_keyboard":[[{"text":"x","callback_data":"` + strings.Repeat("x", 65) + `"}]]}`}},
	{code: 400, description: "Bad Request: inline keyboard button text must be non-empty",
		parameters: fields{"reply_markup": `{"inline_keyboard":[[{"text":"\r","callback_data":"x"}]]}`}},
	{code: 400, description: "Bad Request: inline keyboard button URL 'http://localhost/' is invalid: Wrong HTTP URL",
		parameters: fields{"reply_markup": `{"inline_keyboard":[[{"text":"x","url":"http://localhost/"}]]}`}},
	{code: 400, description: "Bad Request: reply markup is too long",
		parameters: fields{"reply_markup": `{"inline_keyboard":[[{"text":"x","pay":true}]` + strings.Repeat(`,[{"text":"x","pay":true}]`, 100) + `]}`}},
	{code: 400, description: "Bad Request: BUTTON_URL_INVALID", invented: true},
	{code: 400, description: "Bad Request: REPLY_MARKUP_INVALID", invented: true},
	{code: 400, description: "Bad Request: BUTTON_USER_PRIVACY_RESTRICTED", invented: true},

	// The bot itself is in trouble.
	{code: 400, description: "Bad Request: FROZEN_METHOD_INVALID", invented: true},
	{code: 400, description: "Logged out", invented: true},
	{code: 400, description: "Bad Request: something nobody has heard of", invented: true},
	{code: 400, description: "Bad Request: too Many Requests: retry after 7", invented: true},
	{code: 401, description: "Unauthorized", invented: true},
	{code: 401, description: "Unauthorized: invalid token specified", invented: true},
	{code: 421, description: "Misdirected Request: unallowed token specified", invented: true},

	// The server is.
	{code: 420, description: "FLOOD_WAIT_7", invented: true},
	{code: 500, description: "Internal Server Error: restart", invented: true},
	{code: 500, description: "Internal Server Error: Request aborted", invented: true},
	{code: 500, description: "Internal Server Error: sent message was immediately deleted and can't be returned", invented: true},
	{code: 500, description: "Internal Server Error", invented: true},
	{code: 502, description: "Bad Gateway", invented: true},
}

func TestErrorTable(t *testing.T) {
	for _, row := range errorTable {
		t.Run(row.description, func(t *testing.T) {
			r := newRig(t, Options{})
			if row.act != nil {
				r.done(row.act(r.Sandbox))
			}
			if row.invented {
				r.fault(Fault{Method: "sendMessage", Respond: Respond{Status: row.code, Description: row.description}})
			}
			parameters := fields{"chat_id": somebody, "text": "x"}
			for name, value := range row.parameters {
				parameters[name] = value
			}
			answer := r.call("sendMessage", parameters)
			r.refused(answer, row.code, row.description)
			if moved := answer.Parameters.MigrateToChatID; (moved != 0) != strings.Contains(row.description, "upgraded") {
				t.Errorf("migrate_to_chat_id is %d", moved)
			}
			if n := r.Stats().Delivered; n != 0 {
				t.Errorf("%d delivered", n)
			}
		})
	}
}

// What the form of a call, not its meaning, is refused for.
func TestErrorTableOfForms(t *testing.T) {
	r := newRig(t, Options{})
	for name, c := range map[string]struct {
		path, contentType, body string
		code                    int
		description             string
	}{
		"a malformed token": {"/bot123456/sendMessage", "", "", 404, "Not Found"},
		"a mistyped method": {token + "sendMesage", "", "", 404, "Not Found: method not found"},
		"latin-1": {token + "sendMessage", "application/x-www-form-urlencoded", "chat_id=1&text=%fc",
			400, "Bad Request: strings must be encoded in UTF-8"},
		"a huge body": {token + "sendMessage", "application/x-www-form-urlencoded", "text=" + strings.Repeat("x", maxBody),
			413, "Request Entity Too Large"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := r.do(request(http.MethodPost, r.url+c.path, c.contentType, c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.refused(answer, c.code, c.description)
		})
	}
}

// Bodies that are not the Bot API's: a proxy speaks, or the answer is damaged.
func TestErrorTableOfBodies(t *testing.T) {
	const nginx = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
		"<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>\r\n"
	for name, c := range map[string]Respond{
		"nginx 502":         {Status: 502, Body: text(nginx)},
		"nginx 504":         {Status: 504, Body: text(strings.ReplaceAll(nginx, "502 Bad Gateway", "504 Gateway Time-out"))},
		"empty 503":         {Status: 503, Body: text("")},
		"a captive portal":  {Status: 200, Body: text("<html>Please log in</html>")},
		"ok:false, no code": {Status: 200, Body: text(`{"ok":false}`)},
		"a cut success":     {Status: 200, Body: text(`{"ok":true,"result":{"message_id":1`)},
		"429 without more":  {Status: 429, Body: text(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.fault(Fault{Respond: c})
			answer := r.send(somebody)
			if answer.status != c.Status || answer.body != *c.Body {
				t.Errorf("%d %s", answer.status, answer.body)
			}
		})
	}
}
