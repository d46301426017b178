package sandbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMyCommands(t *testing.T) {
	r := newRig(t, Options{})
	start := []fields{{"command": "/start", "description": " Link this chat "}}
	r.accepted(r.call("setMyCommands", fields{"commands": start}), nil)
	r.accepted(r.call("setMyCommands", fields{"commands": start, "scope": `{"type":"chat","chat_id":7}`, "language_code": "ru"}), nil)
	r.accepted(r.call("setMyCommands", fields{"scope": `{"type":"all_private_chats"}`}), nil) // none are none
	for scope, want := range map[string]int{"": 1, `{"type":"chat","chat_id":"7"}`: 1, `{"type":"all_private_chats"}`: 0} {
		language := ""
		if strings.Contains(scope, "chat_id") {
			language = "ru"
		}
		var got []botCommandObject
		r.accepted(r.call("getMyCommands", fields{"scope": scope, "language_code": language}), &got)
		if len(got) != want || want == 1 && !cmp.Equal(got[0], botCommandObject{"start", "Link this chat"}) {
			t.Errorf("%s: %+v", scope, got)
		}
	}
	r.accepted(r.call("deleteMyCommands", nil), nil)
	if answer := r.call("getMyCommands", nil); string(answer.Result) != "[]" {
		t.Errorf("%s", answer.body)
	}
}

func TestMyCommandsRefusals(t *testing.T) {
	r := newRig(t, Options{})
	for commands, want := range map[string]string{
		`{`:   "can't parse commands JSON object",
		`{}`:  "expected an Array of BotCommand",
		`[1]`: "can't parse BotCommand: expected an Object",
		`[{"command":"Start","description":"x"}]`: "BOT_COMMAND_INVALID",
		`[{"command":"start"}]`:                   `can't parse BotCommand: Can't find field "description"`,
		`[{"command":"start","description":" "}]`: "command description must be non-empty",
		`[{"command":"/","description":"x"}]`:     "command must be non-empty",
	} {
		r.refused(r.call("setMyCommands", fields{"commands": commands}), 400, "Bad Request: "+want)
	}
	for scope, want := range map[string]string{
		`x`:               "can't parse BotCommandScope JSON object",
		`[]`:              "can't parse BotCommandScope: BotCommandScope must be an Object",
		`{"type":"z"}`:    "can't parse BotCommandScope: Unsupported type specified",
		`{"type":"chat"}`: `can't parse BotCommandScope: Can't find field "chat_id"`,
		`{"type":"chat_member","chat_id":1,"user_id":0}`: "can't parse BotCommandScope: Invalid user_id specified",
	} {
		r.refused(r.call("setMyCommands", fields{"scope": scope}), 400, "Bad Request: "+want)
	}
}
