package markup

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// pieces are what random texts of a mode are made of.
var pieces = map[string][]string{
	"HTML": {
		"<b>", "</b>", "<i>", "</i>", "<u>", "</u>", "<s>", "</s>", "</>", "<code>", "</code>", "<pre>", "</pre>",
		`<pre><code class="language-go">`, "</code></pre>", "<tg-spoiler>", "</tg-spoiler>", "<blockquote>", "<blockquote expandable>",
		"</blockquote>", `<a href="https://e.com/x">`, "<a>", "</a>", `<tg-emoji emoji-id="5">`, `<tg-time unix="5" format="wD">`,
		"<", ">", "&", "&lt;", "&#x41;", "=", `"`,
	},
	"MarkdownV2": {
		"*", "_", "__", "~", "||", "`", "```", "[", "](https://e.com/)", "](tg://emoji?id=5)", "![", ">", "**>", `\`, `\_`, ".", "!", "-",
	},
	"Markdown": {"*", "_", "`", "```", "[", "]", "(", ")", "](http://e.com/)", `\_`, `\`, "go\n"},
}

// common pieces occur in all modes.
var common = []string{
	"a", "b", "x y", "é", "ы", "😀", " ", "\n", "\r", "\r\n", "\t", "1", "\u200e", "\u202e", "#tag", "@name", "e.com", "/start", "me@e.com",
}

// randomText makes a text of a mode of up to so many pieces.
func randomText(dice *rand.Rand, mode string, most int) string {
	var text strings.Builder
	for range 1 + dice.IntN(most) {
		from := common
		if dice.IntN(2) == 0 {
			from = pieces[mode]
		}
		text.WriteString(from[dice.IntN(len(from))])
	}
	return text.String()
}

var writeTexts = flag.String("write-texts", "", "write random texts to a file, one JSON object a line, for tdlib to judge")

// Random texts never break the parsers. With -write-texts they are written down,
// so that what tdlib makes of them can be added to testdata/tdlib.jsonl: run
// each through its parser and fix_formatted_text, and add the fields of verdict.
func TestRandomTexts(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	var lines []byte
	for range 3000 {
		for _, mode := range []string{"HTML", "MarkdownV2", "Markdown"} {
			source := randomText(dice, mode, 9)
			line, err := json.Marshal(verdict{Mode: mode, Input: source})
			if err != nil {
				t.Fatal(err)
			}
			lines = append(append(lines, line...), '\n')
			parsed, err := Parse(mode, source)
			if err != nil {
				continue
			}
			if _, err := parsed.Fix(Rules{Find: true}); err != nil && err.Error() != "Text must be non-empty" {
				t.Errorf("%s %q: %v", mode, source, err)
			}
		}
	}
	if *writeTexts != "" {
		if err := os.WriteFile(*writeTexts, lines, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
