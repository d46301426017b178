package updates

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"notifier/internal/telegram"
	"notifier/internal/telegram/syntax"
)

const at = 1767225600 // 2026-01-01T00:00:00Z

func message(more string) string {
	return fmt.Sprintf(`{"update_id":7,"message":{"message_id":1,"date":%d,"chat":{"id":801,"type":"private"},`+
		`"from":{"id":801,"is_bot":false,"first_name":"Anna","language_code":"ru"}%s}}`, at, more)
}

func membership(chat, kind, member string) string {
	return fmt.Sprintf(`{"update_id":7,"my_chat_member":{"date":%d,"chat":{"id":%s,"type":%q},"from":{"id":801},`+
		`"old_chat_member":{"status":"member"},"new_chat_member":{%s}}}`, at, chat, kind, member)
}

func TestRead(t *testing.T) {
	anna := Event{Chat: 801, Private: true, Language: "ru", At: time.Unix(at, 0).UTC()}
	act := func(change func(*Event)) Event {
		a := anna
		change(&a)
		return a
	}
	kind := func(k Kind) Event { return act(func(a *Event) { a.Kind = k }) }
	there := func(k Kind, chat int64, private bool) Event {
		return Event{Kind: k, Chat: chat, Private: private, At: anna.At}
	}
	for name, c := range map[string]struct {
		raw  string
		want Event
	}{
		"words":              {message(`,"text":"thanks"`), kind(Words)},
		"a photo":            {message(`,"photo":[{"file_id":"x"}]`), kind(Words)},
		"start":              {message(`,"text":"/start"`), kind(Start)},
		"start with token":   {message(`,"text":"/start abc"`), act(func(a *Event) { a.Kind, a.Token = Start, "abc" })},
		"help":               {message(`,"text":"/help"`), kind(Help)},
		"orders":             {message(`,"text":"/orders"`), kind(Orders)},
		"stop":               {message(`,"text":"/STOP "`), kind(Stop)},
		"unknown command":    {message(`,"text":"/buy"`), kind(Words)},
		"text is a number":   {message(`,"text":5`), kind(Words)},
		"group":              {`{"update_id":1,"message":{"chat":{"id":-5,"type":"group"},"text":"/start x"}}`, Event{Kind: Start, Chat: -5, Token: "x"}},
		"no type":            {`{"update_id":1,"message":{"chat":{"id":5}}}`, Event{Kind: Words, Chat: 5, Private: true}},
		"moved":              {`{"update_id":1,"message":{"chat":{"id":-5},"migrate_to_chat_id":-1005}}`, Event{Kind: Moved, Chat: -5, MovedTo: -1005}},
		"moved, there":       {`{"update_id":1,"message":{"chat":{"id":-1005},"migrate_from_chat_id":-5}}`, Event{Kind: Moved, Chat: -5, MovedTo: -1005}},
		"moved to nowhere":   {`{"update_id":1,"message":{"chat":{"id":-5},"migrate_to_chat_id":0}}`, Event{Kind: Words, Chat: -5}},
		"blocked":            {membership("801", "private", `"status":"kicked"`), there(Blocked, 801, true)},
		"unblocked":          {membership("801", "private", `"status":"member"`), there(Unblocked, 801, true)},
		"joined":             {membership("-5", "group", `"status":"member"`), there(Joined, -5, false)},
		"administrator":      {membership("-5", "supergroup", `"status":"administrator"`), there(Joined, -5, false)},
		"left":               {membership("-5", "group", `"status":"left"`), there(Left, -5, false)},
		"kicked":             {membership("-5", "group", `"status":"kicked"`), there(Left, -5, false)},
		"restricted, out":    {membership("-5", "supergroup", `"status":"restricted","is_member":false`), there(Left, -5, false)},
		"restricted, mute":   {membership("-5", "supergroup", `"status":"restricted","is_member":true,"can_send_messages":false`), there(Ignored, -5, false)},
		"restricted":         {membership("-5", "supergroup", `"status":"restricted","is_member":true,"can_send_messages":true`), there(Joined, -5, false)},
		"a new status":       {membership("-5", "group", `"status":"honorary"`), there(Ignored, -5, false)},
		"press":              {`{"update_id":1,"callback_query":{"id":"q","from":{"language_code":"de-AT"},"message":{"date":` + fmt.Sprint(at) + `,"chat":{"id":801}},"data":"x"}}`, Event{Kind: Press, Chat: 801, Private: true, Language: "de-AT", At: anna.At, callback: "q"}},
		"press elsewhere":    {`{"update_id":1,"callback_query":{"id":"q","from":{"id":801},"inline_message_id":"z"}}`, Event{Kind: Ignored, callback: "q"}},
		"edited":             {`{"update_id":1,"edited_message":{"chat":{"id":801},"text":"/stop"}}`, Event{Kind: Ignored}},
		"nothing":            {`{"update_id":1}`, Event{Kind: Ignored}},
		"null":               {`{"update_id":1,"message":null}`, Event{Kind: Ignored}},
		"message is text":    {`{"update_id":1,"message":"hello"}`, Event{Kind: Unreadable}},
		"no chat":            {`{"update_id":1,"message":{"text":"/start"}}`, Event{Kind: Unreadable}},
		"chat 0":             {`{"update_id":1,"message":{"chat":{"id":0}}}`, Event{Kind: Unreadable}},
		"chat too large":     {`{"update_id":1,"message":{"chat":{"id":4503599627370496}}}`, Event{Kind: Unreadable}},
		"chat is a text":     {`{"update_id":1,"message":{"chat":{"id":"801"}}}`, Event{Kind: Unreadable}},
		"not JSON":           {`{"update_id":1,"message":{`, Event{Kind: Unreadable}},
		"a list":             {`[1]`, Event{Kind: Unreadable}},
		"odd date":           {`{"update_id":1,"message":{"date":99999999999999,"chat":{"id":801}}}`, Event{Kind: Words, Chat: 801, Private: true}},
		"odd language":       {`{"update_id":1,"message":{"chat":{"id":801},"from":{"language_code":"../en"}}}`, Event{Kind: Words, Chat: 801, Private: true}},
		"from is a list":     {`{"update_id":1,"message":{"chat":{"id":801},"from":[]}}`, Event{Kind: Words, Chat: 801, Private: true}},
		"unknown members":    {`{"update_id":1,"message":{"chat":{"id":801,"new":{"x":[]}},"text":"/help","new":[{}]},"new":1}`, Event{Kind: Help, Chat: 801, Private: true}},
		"a chat in 2^52-ish": {`{"update_id":1,"message":{"chat":{"id":-4503599627370495}}}`, Event{Kind: Words, Chat: -4503599627370495}},
	} {
		got := read([]byte(c.raw), "Shop_Bot")
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(Event{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestCommandsInAllTheirForms(t *testing.T) {
	for text, want := range map[string]command{
		"/start":                 {name: "start"},
		"/start abc":             {name: "start", argument: "abc"},
		"/START abc":             {name: "start", argument: "abc"},
		"/Start@Shop_Bot abc":    {name: "start", bot: "Shop_Bot", argument: "abc"},
		"/start@shop_bot\nabc":   {name: "start", bot: "shop_bot", argument: "abc"},
		"  /start \t\r\n  abc  ": {name: "start", argument: "abc"},
		"/start\u00a0abc\u2028":  {name: "start", argument: "abc"},
		"/start abc and more":    {name: "start", argument: "abc"},
		"/start abc=.":           {name: "start", argument: "abc=."},
		"/start@other_bot abc":   {name: "start", bot: "other_bot", argument: "abc"},
		"/help":                  {name: "help"},
	} {
		got, ok := parseCommand(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(command{})); diff != "" || !ok {
			t.Errorf("%q: %v\n%s", text, ok, diff)
		}
		if own := got.bot == "" || got.bot != "other_bot"; got.isFor("Shop_bot", true) != own || got.isFor("Shop_bot", false) != own {
			t.Errorf("%q: for the shop's bot: %v", text, !own)
		}
	}
	for _, text := range []string{"", " ", "start", "please /start abc", "//start", "/", "/@shop_bot", "/start@", "/start@a@b", "/stárt", "/start!", "./start", "\u200b/start"} {
		if got, ok := parseCommand(text); ok {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	named := command{name: "start", bot: "shop_bot"}
	if !named.isFor("", true) || named.isFor("", false) {
		t.Error("as long as the bot's name is not known, only private chats are surely with it")
	}
}

func TestUpdateIDs(t *testing.T) {
	for raw, want := range map[string]int64{
		`{"update_id":7}`: 7, `{"update_id":0}`: 0, `{"update_id":9223372036854775807}`: 9223372036854775807,
		`{"update_id":7,"message":`: 7, `{"message":{},"update_id" : 12`: 12, `{"update_id":12` + "\xff": 12,
		`{"update_id":-1}`: -1, `{"update_id":"x"}`: -1, `{}`: -1, ``: -1, `null`: -1, `{"update_id":1e3`: 1, `{"update_id":99999999999999999999`: -1,
	} {
		got, ok := updateID([]byte(raw))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: got %d, %v", raw, got, ok)
		}
	}
}

func TestBatches(t *testing.T) {
	granted := func(body string) telegram.Reply {
		r := telegram.Reply{Body: []byte(body)}
		r.OK = true
		return r
	}
	for name, c := range map[string]struct {
		body    string
		tooLong bool
		want    []string
		ok      bool
	}{
		"cut behind the second": {`{"ok":true,"result":[{"update_id":1},{"update_id":2},{"upd`, false, []string{`{"update_id":1}`, `{"update_id":2}`}, true},
		"cut in the first":      {`{"ok":true,"result":[{"update_id":1,"mess`, false, nil, false},
		"too long a first":      {`{"ok":true,"result":[{"update_id":1,"mess`, true, []string{`{"update_id":1,"mess`}, true},
		"other members before":  {`{"ok":true,"description":{"x":[1]},"result":[{"update_id":1},`, false, []string{`{"update_id":1}`}, true},
		"no list":               {`{"ok":true,"result":{"update_id":1`, true, nil, false},
		"nothing":               {``, false, nil, false},
	} {
		r := granted(c.body)
		r.TooLong = c.tooLong
		list, ok := batchOf(r)
		var got []string
		for _, raw := range list {
			got = append(got, string(raw))
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || ok != c.ok {
			t.Errorf("%s: %v\n%s", name, ok, diff)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, raw := range []string{
		message(`,"text":"/start@shop_bot x"`), membership("801", "private", `"status":"kicked"`), `{"update_id":1,"callback_query":{}}`,
		`{"update_id":1,"message":{"chat":{"id":1e99}}}`, `{"update_id":{}}`, `[[[[`, "\xff\xfe", `{"update_id":1,"message":{"chat":[],"text":{}}}`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := read(raw, "shop_bot")
		if a.Kind == "" || a.Chat == 0 && a.Kind != Ignored && a.Kind != Unreadable || a.Chat != 0 && !syntax.IsChatID(a.Chat) {
			t.Errorf("%q: got %+v", raw, a)
		}
		if id, ok := updateID(raw); ok && id < 0 {
			t.Errorf("%q: id %d", raw, id)
		}
		r := telegram.Reply{Body: raw, TooLong: true}
		r.OK = true
		batchOf(r)
	})
}

// What another bot writes in a group is answered by nobody; an anonymous administrator is a person.
func TestN11AnotherBotsMessageIsIgnored(t *testing.T) {
	const format = `{"update_id":1,"message":{"message_id":1,"date":1700000000,"chat":{"id":-100500,"type":"supergroup"},` +
		`"from":{"id":%s,"is_bot":%s,"first_name":"x"},"text":"/help"}}`
	for _, c := range []struct {
		id, bot string
		want    Kind
	}{{"77", "true", Ignored}, {"77", "false", Help}, {"1087968824", "true", Help}} {
		if e := read([]byte(fmt.Sprintf(format, c.id, c.bot)), "shop_bot"); e.Kind != c.want {
			t.Errorf("from %s, is_bot %s: %s, want %s", c.id, c.bot, e.Kind, c.want)
		}
	}
}
