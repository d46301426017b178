package markup

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// knownTexts are texts that were once read otherwise than Telegram reads them:
// where a text is trimmed, which entities are cut, joined or dropped, which
// links are links.
var knownTexts = []struct {
	mode, source string
	want         Text
	err          string
}{
	{"HTML", "<b> a</b>", Text{" a", []Entity{{Type: "bold", Length: 2}}}, ""},
	{"MarkdownV2", ">\n1", Text{"\n1", []Entity{{Type: "blockquote", Length: 1}}}, ""},
	{"HTML", "<b>a<i>b</i></b>", Text{"ab", []Entity{
		{Type: "bold", Length: 1}, {Type: "bold", Offset: 1, Length: 1}, {Type: "italic", Offset: 1, Length: 1}}}, ""},
	{"HTML", "<b>a</b><b>b</b>", Text{"ab", []Entity{{Type: "bold", Length: 2}}}, ""},
	{"HTML", "<b><b>a</b></b>", Text{"a", []Entity{{Type: "bold", Length: 1}}}, ""},
	{"HTML", "<pre><b>a</b></pre>", Text{"a", []Entity{{Type: "pre", Length: 1}}}, ""},
	{"HTML", "<b><code>a</code></b>", Text{"a", []Entity{{Type: "code", Length: 1}}}, ""},
	{"HTML", "<pre><code>a</code></pre>", Text{"a", []Entity{{Type: "pre", Length: 1}}}, ""},
	{"HTML", `<code><a href="e.com">a</a></code>`, Text{"a", []Entity{{Type: "code", Length: 1}}}, ""},
	{"HTML", `<a href="e.com"><pre>a</pre></a>`, Text{"a", []Entity{{Type: "pre", Length: 1}}}, ""},
	{"HTML", `<a href="e.com">a<code>b</code></a>`, Text{"ab", []Entity{
		{Type: "text_link", Length: 2, URL: "http://e.com/"}}}, ""},
	{"HTML", "<blockquote>a<blockquote>b</blockquote></blockquote>", Text{"ab", []Entity{{Type: "blockquote", Length: 2}}}, ""},
	{"HTML", `<a href="https://e.com/a b">x</a>`, Text{"x", []Entity{
		{Type: "text_link", Length: 1, URL: "https://e.com/a%20b"}}}, ""},
	{"HTML", `<a href="https://e.com/%zz">x</a>`, Text{"x", []Entity{
		{Type: "text_link", Length: 1, URL: "https://e.com/%zz"}}}, ""},
	{"HTML", `<a href="tg:resolve?domain=x">x</a>`, Text{"x", []Entity{
		{Type: "text_link", Length: 1, URL: "tg://resolve?domain=x"}}}, ""},
	{"HTML", `<a href="tg:user?id=5">x</a>`, Text{"x", []Entity{
		{Type: "text_mention", Length: 1, User: &User{ID: 5, FirstName: "Customer 5"}}}}, ""},
	{"HTML", `<a href="HTTPS://E.com">x</a>`, Text{"x", []Entity{{Type: "text_link", Length: 1, URL: "https://e.com/"}}}, ""},
	{"HTML", "<a>e.com </a>", Text{"e.com", nil}, ""},
	{"HTML", `<tg-time unix="5" format="z">a</tg-time>`, Text{}, "Invalid date format used"},
	{"HTML", `<tg-time unix="5" format="rt">a</tg-time>`, Text{}, "Invalid date format used"},
	{"HTML", `<tg-time unix="5" format="ts">a</tg-time>`, Text{}, "Invalid date format used"},
	{"HTML", `<tg-time unix="5" format="TdW">a</tg-time>`, Text{"a", []Entity{
		{Type: "date_time", Length: 1, UnixTime: 5, DateFormat: "wdT"}}}, ""},
	{"MarkdownV2", "![a](tg://time?unix=5)", Text{"a", []Entity{{Type: "date_time", Length: 1, UnixTime: 5}}}, ""},
	{"MarkdownV2", "![a]", Text{}, "The entity must contain a tg://emoji or tg://time URL"},
	{"MarkdownV2", "![a](x", Text{}, "Can't find end of a URL at byte offset 5"},
	{"MarkdownV2", "![a](https://e.com)", Text{}, "Invalid tg://emoji or tg://time URL specified"},
	{"MarkdownV2", "![a](tg://emoji?id=05)", Text{}, "Invalid tg://emoji or tg://time URL specified"},
	{"MarkdownV2", "*>a\n*", Text{"a", []Entity{{Type: "blockquote", Length: 1}, {Type: "bold", Length: 1}}}, ""},
	{"MarkdownV2", "\r>a", Text{"a", []Entity{{Type: "blockquote", Length: 1}}}, ""},
	{"MarkdownV2", ">a\r\n>b||\r\nc", Text{"a\nb\nc", []Entity{{Type: "expandable_blockquote", Length: 4}}}, ""},
	{"MarkdownV2", "*>", Text{}, "Can't find end of Bold entity at byte offset 0"},
	{"Markdown", "[](a)", Text{"(a)", nil}, ""},
	{"Markdown", "```a b```c", Text{" bc", []Entity{{Type: "pre", Length: 2, Language: "a"}}}, ""},
	{"HTML", "\u200e\u200e", Text{}, "Text must be non-empty"},
	{"HTML", "x\u200e\u200e", Text{"x\u200c\u200e", nil}, ""},
}

func TestKnownTexts(t *testing.T) {
	for _, known := range knownTexts {
		got, err := Parse(known.mode, known.source)
		if err == nil {
			got, err = got.Fix(Rules{})
		}
		if known.err != "" {
			if err == nil || err.Error() != known.err {
				t.Errorf("%s %q: %v, %v; want %s", known.mode, known.source, got, err, known.err)
			}
			continue
		}
		if len(got.Entities) == 0 {
			got.Entities = nil
		}
		if diff := cmp.Diff(known.want, got); err != nil || diff != "" {
			t.Errorf("%s %q: %v\n%s", known.mode, known.source, err, diff)
		}
	}
}

// Entities that a bot gives are judged with the text.
func TestGivenEntities(t *testing.T) {
	for _, c := range []struct {
		text string
		Entity
		want string
	}{
		{"x", Entity{Type: "bold", Length: 50},
			"Entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 50"},
		{"x", Entity{Type: "bold", Offset: 7, Length: 1}, "Entity begins after the end of the text at UTF-16 offset 7"},
		{"😀a", Entity{Type: "bold", Offset: 1, Length: 2}, "Entity begins in a middle of a UTF-16 symbol at byte offset 4"},
		{"a😀", Entity{Type: "bold", Length: 2},
			"Entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 5"},
		{"x", Entity{Type: "bold", Offset: -1, Length: 1}, "Receive an entity with incorrect offset -1"},
		{"x", Entity{Type: "bold", Length: -2}, "Receive an entity with incorrect length -2"},
	} {
		if _, err := (Text{c.text, []Entity{c.Entity}}).Fix(Rules{}); err == nil || err.Error() != c.want {
			t.Errorf("%q %+v: %v, want %s", c.text, c.Entity, err, c.want)
		}
	}
}

// The texts of Telegram's own pages on what it marks by itself, and the traps
// beside them.
func TestFound(t *testing.T) {
	for text, want := range map[string]string{
		"hi @durov, x@durov @ab @gif":             "mention @durov mention @gif",
		"/start a/b /help@some_bot /a/b":          "bot_command /start bot_command /help@some_bot",
		"#заказ #1 a#b #x@chan #1a":               "hashtag #заказ hashtag #x@chan hashtag #1a",
		"$USD $usd $TOOLONGTAG $1INCH":            "cashtag $USD cashtag $1INCH",
		"see example.com. Next.Then a.b":          "url example.com",
		"https://e.com/a_(b) (https://e.com/c)":   "url https://e.com/a_(b) url https://e.com/c",
		"me@example.com mailto:a.b@example.co.uk": "email me@example.com email a.b@example.co.uk",
		"http://localhost 127.0.0.1 1.2.3":        "url 127.0.0.1",
		"tg://resolve?domain=x!":                  "url tg://resolve?domain=x",
		"😀 +49 30 901820 and +1":                  "phone_number +49 30 901820",
		"4242 4242 4242 4242, 4242424242424241":   "bank_card_number 4242 4242 4242 4242",
		"order A-1001, 12.50 at 10:30":            "",
		"https://магазин.рф/путь?x=1#y":           "url https://магазин.рф/путь?x=1#y",
		"user:pass@example.com/x":                 "url user:pass@example.com/x",
	} {
		units := utf16.Encode([]rune(text))
		var got []string
		for _, e := range Find(text) {
			got = append(got, e.Type, string(utf16.Decode(units[e.Offset:e.end()])))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q\n%s", text, diff)
		}
	}
}

func TestCommandsAreFound(t *testing.T) {
	for text, want := range map[string][]Entity{
		"/start":              {{Type: "bot_command", Length: 6}},
		"/start@shop_bot abc": {{Type: "bot_command", Length: 15}},
		"\U0001F600 /stop":    {{Type: "bot_command", Offset: 3, Length: 5}},
		"/start\nabc":         {{Type: "bot_command", Length: 6}},
		"a/b":                 nil,
		"/ start":             nil,
		"/etc/passwd":         nil,
	} {
		if diff := cmp.Diff(want, Find(text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
