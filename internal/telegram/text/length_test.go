package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"notifier/internal/orders"
)

func TestCyrillicIsNotCutNeedlessly(t *testing.T) {
	p := orders.Payload{Number: "A-1001"}
	for range 20 {
		p.Items = append(p.Items, orders.Item{Name: strings.Repeat("ж", 200)})
	}
	for name, p := range map[string]orders.Payload{
		"20 items of 200": p,
		"one item":        {Number: "A-1001", CustomerName: "", Items: []orders.Item{{Name: strings.Repeat("ж", 3900)}}},
	} {
		made := render(t, orders.TypeStaffPlaced, encode(t, p))
		want := 0
		for _, item := range p.Items {
			want += utf8.RuneCountInString(item.Name)
		}
		if got := strings.Count(made.Plain, "ж"); got != want {
			t.Errorf("%s: %d of %d letters are left", name, got, want)
		}
	}
}

func TestLongListsLoseWholeLines(t *testing.T) {
	p := orders.Payload{Number: "A-1001", Currency: "EUR", TotalCents: cents(5), Note: "Bell"}
	for i := range 200 {
		p.Items = append(p.Items, orders.Item{Name: fmt.Sprintf("item %03d %s", i, strings.Repeat("x", 90)), Quantity: 1, UnitPriceCents: 100})
	}
	plain := render(t, orders.TypePlaced, encode(t, p)).Plain
	shown := strings.Count(plain, "• 1 × item")
	for i := range shown {
		if !strings.Contains(plain, p.Items[i].Name+" — €1.00\n") {
			t.Errorf("item %d is not whole", i)
		}
	}
	for _, want := range []string{"A-1001", fmt.Sprintf("\n… and %d more\n", 200-shown), "Total: €0.05", "Note: Bell"} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is not in\n%s", want, plain)
		}
	}
	if n := units(plain); n < maxUnits-130 || shown < 30 {
		t.Errorf("%d items in %d units: another one would fit", shown, n)
	}
}

func TestLongValuesAreShortenedBetweenCharacters(t *testing.T) {
	for name, letter := range map[string]string{"hats": "🎩", "ascii": "a", "flags": "🇩🇪", "families": "👩‍👩‍👧", "accents": "e\u0301", "hands": "👍🏽", "markup": "<"} {
		p := orders.Payload{Number: "A-1001", Items: []orders.Item{{Name: strings.Repeat(letter, 4097)}, {Name: "second"}}, Note: strings.Repeat(letter, 4097)}
		plain := render(t, orders.TypePlaced, encode(t, p)).Plain
		if !strings.Contains(plain, "A-1001") || !strings.Contains(plain, "Note: "+letter) || !strings.Contains(plain, "• "+letter) {
			t.Errorf("%s:\n%.300s", name, plain)
		}
		for _, l := range strings.Split(plain, "\n") {
			if before, found := strings.CutSuffix(l, ellipsis); found {
				if tail := strings.TrimPrefix(strings.TrimPrefix(before, "Note: "), "• "); strings.ReplaceAll(tail, letter, "") != "" {
					t.Errorf("%s: cut inside a character: …%+q", name, []rune(tail)[len([]rune(tail))-4:])
				}
			}
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"hello", 5, "hello"}, {"hello!", 5, "hell…"}, {"🎩🎩🎩", 6, "🎩🎩🎩"}, {"🎩🎩🎩", 5, "🎩🎩…"}, {"🎩🎩🎩", 4, "🎩…"},
		{"ab cdef", 4, "ab…"}, {"🇩🇪🇩🇪🇩🇪", 8, "🇩🇪…"}, {"🇩🇪🇩🇪🇩🇪", 9, "🇩🇪🇩🇪…"}, {"ae\u0301xyz", 3, "a…"}, {"👍🏽👍🏽", 5, "👍🏽…"}, {"x👍🏽", 4, "x…"},
		{"\u0301\u0301\u0301\u0301", 3, "\u0301\u0301…"},
	} {
		if got := cut(c.in, c.most); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.in, c.most, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "in")
		most := rapid.IntRange(1, 20).Draw(t, "most")
		got := cut(in, most)
		if units(got) > most || !utf8.ValidString(got) || units(in) <= most && got != in {
			t.Fatalf("got %q, %d units", got, units(got))
		}
	})
}

func TestOwnText(t *testing.T) {
	ascii := strings.Repeat("a", maxUnits)
	for _, c := range []struct {
		payload any
		reason  string // empty: taken
		plain   string
	}{
		{map[string]any{"text": "Welcome!"}, "", "Welcome!"},
		{map[string]any{"text": "<b>no tag</b> &amp;"}, "", "<b>no tag</b> &amp;"},
		{map[string]any{"html": "<b>bold</b> &lt;3 &amp; more"}, "", "bold <3 & more"},
		{map[string]any{"html": "<b>bold"}, reasonRejected, ""},
		{map[string]any{"html": "1 < 2"}, reasonRejected, ""},
		{map[string]any{"text": ascii}, "", ascii},
		{map[string]any{"text": ascii + "a"}, reasonRejected, ""},
		{map[string]any{"text": strings.Repeat("ж", maxUnits)}, "", strings.Repeat("ж", maxUnits)},
		{map[string]any{"text": strings.Repeat("🎩", 2048)}, "", strings.Repeat("🎩", 2048)},
		{map[string]any{"text": strings.Repeat("🎩", 2100)}, reasonRejected, ""},
		{map[string]any{"text": strings.Repeat("&", maxUnits)}, "", strings.Repeat("&", maxUnits)},
		{map[string]any{"html": "<b>" + ascii + "</b>"}, "", ascii},
		{map[string]any{"html": "<b>" + ascii + "</b>a"}, reasonRejected, ""},
		{map[string]any{"html": strings.Repeat("<b></b>", 5000) + "a"}, reasonRejected, ""},
		{map[string]any{"text": ""}, reasonRejected, ""},
		{map[string]any{"text": " \n\t\u200b\u00a0\u2800\ufeff"}, reasonRejected, ""},
		{map[string]any{"html": "<b> </b>"}, reasonRejected, ""},
		{map[string]any{"html": "&#8203;"}, reasonRejected, ""},
		{map[string]any{}, reasonTemplateError, ""},
		{map[string]any{"text": "hush", "html": "hush"}, reasonTemplateError, ""},
		{map[string]any{"text": 5}, reasonTemplateError, ""},
		{map[string]any{"text": "hush", "buttons": "hush"}, reasonTemplateError, ""},
		{map[string]any{"text": "x", "locale": "ru", "unknown": 1}, "", "x"},
		{json.RawMessage(`{"text":"a\ud800b"}`), reasonTemplateError, ""},
		{json.RawMessage(`{"text":null}`), reasonTemplateError, ""},
	} {
		payload := encode(t, c.payload)
		if c.reason != "" {
			refused(t, newRenderer(t).check(orders.TypeText, payload), c.reason)
			continue
		}
		if got := render(t, orders.TypeText, payload); got.Plain != c.plain {
			t.Errorf("%.80s: got %.80q", payload, got.Plain)
		}
	}
	for _, broken := range []func(string, []Button) (Text, error){fromPlain, fromHTML} { // JSON cannot hold it
		_, err := broken("\xff", nil)
		refused(t, err, reasonRejected)
	}
}

func TestButtons(t *testing.T) {
	made := render(t, orders.TypeText, json.RawMessage(`{"text":"x","buttons":[{"text":"Open","url":"https://shop.example/1?a=b"}]}`))
	if len(made.Buttons) != 1 || made.Buttons[0] != (Button{"Open", "https://shop.example/1?a=b"}) {
		t.Errorf("got %+v", made.Buttons)
	}
	for _, good := range []string{"http://shop.example", "HTTPS://shop.example/ж", "https://1.2.3.4:8080/", "http://[::1]/", "tg://resolve?domain=shop"} {
		if err := checkButtons([]Button{{"x", good}}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "hush", "/path", "shop.example", "http://localhost/", "ftp://shop.example", "javascript:alert(1)", "mailto:a@b.example", "https://", "http://a.b/ c", "tg:", "https://shop.example/" + strings.Repeat("x", 3000), "http://a.b:port/"} {
		refused(t, checkButtons([]Button{{"x", bad}}), reasonRejected)
	}
	refused(t, checkButtons([]Button{{" ", "https://shop.example"}}), reasonRejected)
	refused(t, checkButtons(make([]Button, 101)), reasonRejected)
	_, err := newRenderer(t).Render(orders.TypeText, json.RawMessage(`{"text":"x","buttons":[{"text":"x","url":"hush"}]}`))
	refused(t, err, reasonRejected)
}
