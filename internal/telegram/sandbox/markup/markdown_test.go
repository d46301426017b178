package markup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMarkdownV2Refusals(t *testing.T) {
	const reserved = ` is reserved and must be escaped with the preceding '\'`
	for source, want := range map[string]string{
		"A-1001":                "Character '-'" + reserved,
		"done.":                 "Character '.'" + reserved,
		"a|b":                   "Character '|'" + reserved,
		"a!b":                   "Character '!'" + reserved,
		"a > b":                 "Character '>'" + reserved,
		"(x)":                   "Character '('" + reserved,
		"x]":                    "Character ']'" + reserved,
		"ü *x":                  "Can't find end of Bold entity at byte offset 3",
		"_x":                    "Can't find end of Italic entity at byte offset 0",
		"*_x*":                  "Can't find end of Bold entity at byte offset 3",
		"__x_":                  "Can't find end of Italic entity at byte offset 3",
		"~x":                    "Can't find end of Strikethrough entity at byte offset 0",
		"||x":                   "Can't find end of Spoiler entity at byte offset 0",
		"`x":                    "Can't find end of Code entity at byte offset 0",
		"```x":                  "Can't find end of Pre entity at byte offset 0",
		"```go\nx":              "Can't find end of PreCode entity at byte offset 0",
		"[x":                    "Can't find end of TextUrl entity at byte offset 0",
		"[x](y.de":              "Can't find end of a URL at byte offset 4",
		"![x]":                  "The entity must contain a tg://emoji or tg://time URL",
		"![x](":                 "Can't find end of a URL at byte offset 5",
		"![x](y.de)":            "Invalid tg://emoji or tg://time URL specified",
		">*x\ny":                "Can't find end of Bold entity at byte offset 1",
		`trailing \`:            "",
		"![x](tg://emoji?id=0)": "Invalid tg://emoji or tg://time URL specified",
	} {
		_, err := parseMarkdownV2(source)
		if got := message(err); got != want {
			t.Errorf("%s\n got %v\nwant %s", source, got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMarkdownV2Text(t *testing.T) {
	for source, want := range map[string]Text{
		`A\-1001 \_\*\\`:         {Text: `A-1001 _*\`},
		"a\\é":                   {Text: "a\\é"},
		"\U0001F600*x*":          {"\U0001F600x", []Entity{{Type: "bold", Offset: 2, Length: 1}}},
		"**":                     {Text: ""},
		"*a _b_*":                {"a b", []Entity{{Type: "bold", Length: 3}, {Type: "italic", Offset: 2, Length: 1}}},
		"__u__ _i_":              {"u i", []Entity{{Type: "underline", Length: 1}, {Type: "italic", Offset: 2, Length: 1}}},
		"~x~||y||":               {"xy", []Entity{{Type: "strikethrough", Length: 1}, {Type: "spoiler", Offset: 1, Length: 1}}},
		"`a-b*c`":                {"a-b*c", []Entity{{Type: "code", Length: 5}}},
		"```\na.b```":            {"a.b", []Entity{{Type: "pre", Length: 3}}},
		"```go\nx = 1```":        {"x = 1", []Entity{{Type: "pre", Length: 5, Language: "go"}}},
		"```x```":                {"x", []Entity{{Type: "pre", Length: 1}}},
		"[a](http://b.de/\\)c)":  {"a", []Entity{{Type: "text_link", Length: 1, URL: "http://b.de/)c"}}},
		"[b\\.de]":               {"b.de", []Entity{{Type: "text_link", Length: 4, URL: "http://b.de/"}}},
		"[a](nowhere)":           {Text: "a"},
		"![x](tg://emoji?id=42)": {"x", []Entity{{Type: "custom_emoji", Length: 1, CustomEmojiID: "42"}}},
		">a\n>b\nc":              {"a\nb\nc", []Entity{{Type: "blockquote", Length: 4}}},
		"x\n>a":                  {"x\na", []Entity{{Type: "blockquote", Offset: 2, Length: 1}}},
		">a\n**>b":               {"a\nb", []Entity{{Type: "blockquote", Length: 2}, {Type: "blockquote", Offset: 2, Length: 1}}},
		">a\n>b||":               {"a\nb", []Entity{{Type: "expandable_blockquote", Length: 3}}},
		"a\nb":                   {Text: "a\nb"},
	} {
		got, err := parseMarkdownV2(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", source, diff)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for source, want := range map[string]Text{
		`A-1001 \_x\*`:     {Text: "A-1001 _x*"},
		"*b* _i_ `c`":      {"b i c", []Entity{{Type: "bold", Length: 1}, {Type: "italic", Offset: 2, Length: 1}, {Type: "code", Offset: 4, Length: 1}}},
		"```go\nx```":      {"x", []Entity{{Type: "pre", Length: 1, Language: "go"}}},
		"[a](b.de) [c.de]": {"a c.de", []Entity{{Type: "text_link", Length: 1, URL: "http://b.de/"}, {Type: "text_link", Offset: 2, Length: 4, URL: "http://c.de/"}}},
		"[a](b.de":         {"a", []Entity{{Type: "text_link", Length: 1, URL: "http://b.de/"}}},
		"\U0001F600*ü*":    {"\U0001F600ü", []Entity{{Type: "bold", Offset: 2, Length: 1}}},
		"**":               {Text: ""},
	} {
		got, err := parseMarkdown(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", source, diff)
		}
	}
	for source, want := range map[string]string{
		"snake_case": "Can't find end of the entity starting at byte offset 5",
		"ü[x":        "Can't find end of the entity starting at byte offset 2",
	} {
		_, err := parseMarkdown(source)
		if got := message(err); got != want {
			t.Errorf("%s\n got %v\nwant %s", source, got, want)
		}
	}
}

// Whatever is sent, nothing breaks and every entity lies inside the text.
func TestMarkdownNeverBreaks(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"*", "_", "__", "**>", ">", "\n", "\r", "||", "~", "`", "```", "go", "[", "]", "(b.de)", "![", `\`, "ü", "\U0001F600", ".", "x", " ",
	})
	rapid.Check(t, func(t *rapid.T) {
		source := ""
		for _, p := range rapid.SliceOf(piece).Draw(t, "pieces") {
			source += p
		}
		for _, parse := range []func(string) (Text, error){parseMarkdown, parseMarkdownV2} {
			parsed, err := parse(source)
			if err != nil {
				continue
			}
			checkFixed(t, source, parsed)
		}
	})
}
