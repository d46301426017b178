package markup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHTMLRefusals(t *testing.T) {
	for source, want := range map[string]string{
		"1 < 2":                               `Unsupported start tag "" at byte offset 2`,
		"x<p>y</p>":                           `Unsupported start tag "p" at byte offset 1`,
		"ä<H1>":                               `Unsupported start tag "h1" at byte offset 2`,
		"x<b":                                 `Unclosed start tag at byte offset 1`,
		"x<":                                  `Unclosed start tag at byte offset 1`,
		"<b>x":                                `Can't find end tag corresponding to start tag "b"`,
		"<b>x<i>y</i>":                        `Can't find end tag corresponding to start tag "b"`,
		"x</b>":                               `Unexpected end tag at byte offset 1`,
		"<b>x</i>":                            `Unmatched end tag at byte offset 4, expected "</b>", found "</i>"`,
		"<b>x</b y>":                          `Unclosed end tag at byte offset 4`,
		"<b>x</b":                             `Unclosed end tag at byte offset 4`,
		`<a href="x"y">z</a>`:                 `Empty attribute name in the tag "a" at byte offset 0`,
		`ü<a ="x">y</a>`:                      `Empty attribute name in the tag "a" at byte offset 2`,
		`<br/>`:                               `Unsupported start tag "br/" at byte offset 0`,
		`<b/>`:                                `Unsupported start tag "b/" at byte offset 0`,
		`<b />`:                               `Empty attribute name in the tag "b" at byte offset 0`,
		`<a href=x/y>z</a>`:                   `Unexpected end of name token at byte offset 8`,
		`<a href="x`:                          `Unclosed start tag at byte offset 0`,
		`<a href="x"`:                         `Unclosed start tag at byte offset 0`,
		`<a href=`:                            `Unclosed start tag "a" at byte offset 0`,
		`<a href`:                             `Unclosed start tag "a" at byte offset 0`,
		`<span>x</span>`:                      `Tag "span" must have class "tg-spoiler" at byte offset 0`,
		`<span class="red">x</span>`:          `Tag "span" must have class "tg-spoiler" at byte offset 0`,
		`<tg-emoji emoji-id="x">y</tg-emoji>`: `Invalid custom emoji identifier specified`,
		"&#xD83D;&#xDE00;": `Text contains invalid Unicode characters after decoding HTML entities, ` +
			`check for unmatched surrogate code units`,
	} {
		if _, err := parseHTML(source); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", source, err, want)
		}
	}
}

func TestHTMLText(t *testing.T) {
	for source, want := range map[string]Text{
		"plain":                          {Text: "plain"},
		"&lt;&gt;&amp;&quot;":            {Text: `<>&"`},
		"&lt&#39;&#x41;&#66 &":           {Text: "<'AB &"},
		"&nbsp;&copy;&#0;&#x;&#":         {Text: "&nbsp;&copy;&#0;&#x;&#"},
		"&amp;lt;":                       {Text: "&lt;"},
		"2 > 1":                          {Text: "2 > 1"},
		"<b></b>x":                       {Text: "x"},
		"<B>x</b>":                       {"x", []Entity{{Type: "bold", Length: 1}}},
		"<b  >x</b  >":                   {"x", []Entity{{Type: "bold", Length: 1}}},
		"<b>x</>":                        {"x", []Entity{{Type: "bold", Length: 1}}},
		`<b class="q" id=7 hidden>x</b>`: {"x", []Entity{{Type: "bold", Length: 1}}},
		"\U0001F600<i>\U0001F600ß</i>":   {"\U0001F600\U0001F600ß", []Entity{{Type: "italic", Offset: 2, Length: 3}}},
		"&#x1F600;<u>x</u>":              {"\U0001F600x", []Entity{{Type: "underline", Offset: 2, Length: 1}}},
		"<b><i>x</i>y</b>":               {"xy", []Entity{{Type: "bold", Length: 2}, {Type: "italic", Length: 1}}},
		"<i><b>x</b></i>":                {"x", []Entity{{Type: "bold", Length: 1}, {Type: "italic", Length: 1}}},
		`<a href="https://example.com/?a=1&amp;b=2">x</a>`: {
			"x", []Entity{{Type: "text_link", Length: 1, URL: "https://example.com/?a=1&b=2"}}},
		`<a href='example.com'>x</a>`:  {"x", []Entity{{Type: "text_link", Length: 1, URL: "http://example.com/"}}},
		`<a>example.com/y</a>`:         {"example.com/y", []Entity{{Type: "text_link", Length: 13, URL: "http://example.com/y"}}},
		`<a href="javascript:1">x</a>`: {Text: "x"},
		`<a href="ftp://a.b/">x</a>`:   {Text: "x"},
		`<a href="tg://user?id=42">x</a>`: {
			"x", []Entity{{Type: "text_mention", Length: 1, User: &User{ID: 42, FirstName: "Customer 42"}}}},
		`<tg-spoiler>x</tg-spoiler>`:            {"x", []Entity{{Type: "spoiler", Length: 1}}},
		`<span class="tg-spoiler">x</span>`:     {"x", []Entity{{Type: "spoiler", Length: 1}}},
		`<blockquote>x</blockquote>`:            {"x", []Entity{{Type: "blockquote", Length: 1}}},
		`<blockquote expandable>x</blockquote>`: {"x", []Entity{{Type: "expandable_blockquote", Length: 1}}},
		`<pre>x</pre>`:                          {"x", []Entity{{Type: "pre", Length: 1}}},
		`<code class="language-go">x</code>`:    {"x", []Entity{{Type: "code", Length: 1}}},
		`<pre><code class="language-go">x</code></pre>`: {
			"x", []Entity{{Type: "pre", Length: 1, Language: "go"}}},
		`<code class="language-go"><pre>x</pre></code>`: {
			"x", []Entity{{Type: "pre", Length: 1, Language: "go"}}},
		`<tg-emoji emoji-id="5368324170671202286">x</tg-emoji>`: {
			"x", []Entity{{Type: "custom_emoji", Length: 1, CustomEmojiID: "5368324170671202286"}}},
		`<tg-time unix="1647531900" format="wDT">x</tg-time>`: {
			"x", []Entity{{Type: "date_time", Length: 1, UnixTime: 1647531900, DateFormat: "wDT"}}},
	} {
		got, err := parseHTML(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", source, diff)
		}
	}
}

// Whatever is escaped comes through; whatever is sent, nothing breaks and every
// entity lies inside the text.
func TestHTMLNeverBreaks(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"<b>", "</b>", "<i>", "</i>", "</>", "<a href=", `"x.de"`, ">", "<", "&", "&lt;", "&#", "x41;", "\x00", "\r", "\t",
		"\U0001F600", "ü", " ", "<pre>", "<code class=\"language-go\">", "</code>", "</pre>", "\u202e", "=",
	})
	rapid.Check(t, func(t *rapid.T) {
		source := ""
		for _, p := range rapid.SliceOf(piece).Draw(t, "pieces") {
			source += p
		}
		parsed, err := parseHTML(source)
		if err != nil {
			return
		}
		checkFixed(t, source, parsed)
	})
}

// checkFixed checks that the entities of a text lie inside it, before and after
// it is fixed.
func checkFixed(t *rapid.T, source string, parsed Text) {
	fixed, err := parsed.Fix(Rules{Find: true})
	if err != nil && err.Error() != "Text must be non-empty" {
		t.Fatalf("%q: %v", source, err)
	}
	again, _ := fixed.Fix(Rules{MayBeEmpty: true, Find: true})
	if !cmp.Equal(again, fixed) {
		t.Fatalf("%q: fixed again it differs: %v, %v", source, fixed, again)
	}
	for _, f := range []Text{parsed, fixed} {
		length := UTF16Length(f.Text)
		for _, e := range f.Entities {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > length {
				t.Fatalf("%q: entity %+v in a text of %d", source, e, length)
			}
		}
	}
}
