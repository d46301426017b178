package text

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	for source, want := range map[string]string{
		"":                                   "",
		"plain > text":                       "plain > text",
		"<b>b</b><STRONG>s</strong><i>i</I>": "bsi",
		"<em>1</em><u>2</u><ins>3</ins><s>4</s><strike>5</strike><del>6</del>": "123456",
		`<a href="https://example.com/?a=1&amp;b=2">link</a>`:                  "link",
		`<a href='x'>link</a>`:                                            "link",
		`<a href=x.y-z>link</a>`:                                          "link",
		"<a>no address</a>":                                               "no address",
		"<code>c</code><pre>p</pre>":                                      "cp",
		`<pre><code class="language-go">x</code></pre>`:                   "x",
		`<span class="tg-spoiler">x</span><tg-spoiler>y</tg-spoiler>`:     "xy",
		`<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>`:           "👍",
		`<tg-time unix="1647531900" format="wDT">22:45</tg-time>`:         "22:45",
		"<blockquote>q</blockquote><blockquote expandable>r</blockquote>": "qr",
		`<b unknown="1">x</b>`:                                            "x",
		"<b\n>x</b\n>":                                                    "x",
		"<b>x</>":                                                         "x",
		"<b><i>x</i></b>":                                                 "x",
		"<b></b>x":                                                        "x",
		"&lt;&gt;&amp;&quot;":                                             `<>&"`,
		"&lt &#60 &#x3c;":                                                 "< < <",
		"&#39;&#34;&#128512;&#x1F600;":                                    "'\"😀😀",
		"&#55357;&#56832;":                                                "😀", // the two halves of one character
		"&nbsp;&apos;&foo &":                                              "&nbsp;&apos;&foo &",
		"&#0;&#x110000;&#;&#x;&":                                          "&#0;&#x110000;&#;&#x;&",
		"&amp;lt;":                                                        "&lt;",
		"жж<b>🎩</b>":                                                      "жж🎩",
	} {
		if got, err := visible(source); err != nil || got != want {
			t.Errorf("%s: got %q, %v", source, got, err)
		}
	}
}

func TestVisibleRefuses(t *testing.T) {
	for _, source := range []string{
		"<", "a < b", "<>", "<br>", "<p>x</p>", "<h1>x</h1>", "<test/>", "<b/>", "<!-- x -->", "<b", "<b ", "<b>x", "x</b>", "</", "</>",
		"<b>x</i>", "<b><i>x</b></i>", "<b>x</b", "<b>x</b y>", "<a href", "<a href>x</a>", "<a href=", `<a href="x`, `<a href="x"`, "<a href=x/y>z</a>", `<a ="x">y</a>`,
		"<span>x</span>", `<span class="red">x</span>`, "<tg-emoji>x</tg-emoji>", `<tg-emoji emoji-id="x">y</tg-emoji>`, `<tg-emoji emoji-id="0">y</tg-emoji>`, "<tg-time>x</tg-time>",
		"&#55357;", "&#56832;&#55357;", "a&#xd800;b", "<<b>>", "<3",
	} {
		got, err := visible(source)
		if err == nil {
			t.Errorf("%s: taken as %q", source, got)
			continue
		}
		refused(t, err, reasonRejected)
	}
}

func TestVisibleUndoesEscaping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "in")
		if got, err := visible(html.EscapeString(in)); err != nil || got != in {
			t.Fatalf("got %q, %v", got, err)
		}
	})
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"<b>x</b>", "&#55357;&#56832;", `<a href="&lt;">x</a>`, "<", "&", "</", "<b \x00=>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, err := visible(source)
		if err == nil && (!utf8.ValidString(got) || utf8.ValidString(source) && units(got) > units(source) || strings.Contains(source, "<") && len(got) >= len(source)*3) {
			t.Errorf("%q became %q", source, got)
		}
	})
}
