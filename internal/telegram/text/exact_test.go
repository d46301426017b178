package text

import (
	"fmt"
	"html"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"notifier/internal/orders"
)

func TestNamesAreShownExactly(t *testing.T) {
	for _, name := range []string{
		"<3", "</b>", "<test/>", "a<<b>>c", "{{.Secret}}", "%s%n", "A & B", "&lt;", "&amp;lt;", "O'Neill \"x\"", "1+1", "<script>alert(1)</script>",
		"<!-- -->", "]]>", "\\", "`", "https://example.com/?a=1&b=2", "Zoë", "🎩", "  two  spaces  ",
	} {
		p := orders.Payload{Number: name, CustomerName: name, Note: name, TrackingURL: name, Items: []orders.Item{{Name: name, Quantity: 1}}}
		for _, messageType := range orderTypes {
			made := render(t, messageType, encode(t, p))
			for _, where := range []string{"rder " + name, name + ", ", "Note: " + name, "here: " + name, "× " + name} {
				if applies(messageType, where) && !strings.Contains(made.Plain, strings.TrimRight(where, " ")) {
					t.Errorf("%s lacks %q:\n%s", messageType, where, made.Plain)
				}
			}
		}
		text := render(t, orders.TypeText, encode(t, map[string]string{"text": name}))
		if text.Plain != name || html.UnescapeString(text.HTML) != name {
			t.Errorf("Text %q: got %+v", name, text)
		}
	}
}

// applies leaves out what a type does not show.
func applies(messageType, where string) bool {
	switch {
	case strings.HasPrefix(where, "here: "):
		return messageType != orders.TypeCanceled && messageType != orders.TypeRefunded
	case strings.HasPrefix(where, "× "):
		return messageType == orders.TypePlaced || messageType == orders.TypeShipped || messageType == orders.TypeStaffPlaced
	case strings.HasSuffix(where, ", "):
		return messageType != orders.TypeStaffPlaced
	}
	return true
}

func TestMoneyIsExact(t *testing.T) {
	for _, c := range []struct {
		minor    int64
		currency string
		want     string
	}{
		{5 * 3649, "EUR", "€182.45"},
		{10 + 20, "EUR", "€0.30"},
		{435 * 100, "EUR", "€435.00"},
		{0, "EUR", "€0.00"},
		{-0, "USD", "$0.00"},
		{9007199254740993, "EUR", "€90071992547409.93"},
		{9007199254740993, "JPY", "¥9007199254740993"},
		{9007199254740993, "KWD", "KWD\u00a09007199254740.993"},
		{math.MaxInt64, "EUR", "€92233720368547758.07"},
		{math.MinInt64, "EUR", "-€92233720368547758.08"},
		{5, "KWD", "KWD\u00a00.005"},
		{0, "JPY", "¥0"},
		{-5, "EUR", "-€0.05"},
		{1, "", "0.01"},
		{-1, "", "-0.01"},
		{-100, "???", "???\u00a0-1.00"},
		{123456, "COINS AND MORE", "COINS A…\u00a01234.56"},
	} {
		if got := newMoney("en").show(c.minor, c.currency); got != c.want {
			t.Errorf("%d %s: got %q, want %q", c.minor, c.currency, got, c.want)
		}
		plain := render(t, orders.TypePaid, encode(t, orders.Payload{Number: "1", TotalCents: &c.minor, Currency: c.currency})).Plain
		if !strings.Contains(plain, "Total: "+c.want) {
			t.Errorf("%d %s: got\n%s", c.minor, c.currency, plain)
		}
	}
	for locale, want := range map[string]string{"ru": "25,00\u00a0€", "en-GB": "€25.00", "de": "25,00\u00a0€", "junk!": "€25.00", "": "€25.00"} {
		if got := newMoney(locale).show(2500, "EUR"); got != want {
			t.Errorf("%s: got %q, want %q", locale, got, want)
		}
	}
}

func TestLinePriceDoesNotOverflow(t *testing.T) {
	p := orders.Payload{Number: "1", Currency: "EUR", Items: []orders.Item{
		{Name: "Gold", Quantity: math.MaxInt64, UnitPriceCents: math.MaxInt64}, {Name: "Silver", Quantity: 3, UnitPriceCents: math.MaxInt64 / 3}, {Name: "Air", Quantity: 1},
	}}
	plain := render(t, orders.TypePlaced, encode(t, p)).Plain
	for _, want := range []string{"• 9223372036854775807 × Gold\n", "• 3 × Silver — €92233720368547758.06\n", "• 1 × Air\n"} {
		if !strings.Contains(plain+"\n", want) {
			t.Errorf("%q is not in\n%s", want, plain)
		}
	}
}

func TestDirectionStaysInside(t *testing.T) {
	for in, want := range map[string]string{
		"Anna":                  "Anna",
		"\u202egnp.exe":         "\u2068\u202egnp.exe\u202c\u2069",
		"\u202dx\u202c":         "\u2068\u202dx\u202c\u2069",
		"\u2067x":               "\u2068\u2067x\u2069\u2069",
		"\u2067\u202ex":         "\u2068\u2067\u202ex\u202c\u2069\u2069",
		"\u2067\u202ex\u2069y":  "\u2068\u2067\u202ex\u2069y\u2069",
		"x\u2069\u202ey":        "\u2068\u2068x\u2069\u202ey\u202c\u2069",
		"\u202ea\u2069b":        "\u2068\u2068\u202ea\u2069b\u2069",
		"\u2069\u2069":          "\u2068\u2068\u2068\u2069\u2069\u2069",
		"שלום":                  "\u2068שלום\u2069",
		"مرحبا":                 "\u2068مرحبا\u2069",
		"a\u202c\u200eb":        "\u2068a\u202c\u200eb\u2069",
		"\u200f!":               "\u2068\u200f!\u2069",
		"\u202eone\ntwo":        "\u2068\u202eone two\u202c\u2069",
		"\u202eone\u2028two\tx": "\u2068\u202eone two x\u202c\u2069",
	} {
		if got := line(in, 0); got != want {
			t.Errorf("%+q: got %+q, want %+q", in, got, want)
		}
	}
	if got, want := paragraph("\u202eone\ntwo\n\u2067three", 0), "\u2068\u202eone\u202c\u2069\ntwo\n\u2068\u2067three\u2069\u2069"; got != want {
		t.Errorf("got %+q, want %+q", got, want)
	}
}

func TestDirectionIsAlwaysBalanced(t *testing.T) {
	alphabet := []rune{'a', '\n', 'ש', lre, rle, pdf, lro, rlo, lri, rli, fsi, pdi, rlm, '\u2029', '<'}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.SampledFrom(alphabet)).Draw(t, "in")
		for _, l := range strings.Split(paragraph(in, rapid.SampledFrom([]int{0, 5}).Draw(t, "most")), "\n") {
			// Whatever was open is closed, and nothing inside closes the outermost isolate early.
			depth := 0
			runes := []rune(l)
			for i, c := range runes {
				switch c {
				case lri, rli, fsi:
					depth++
				case pdi:
					depth--
				}
				if depth < 0 || depth == 0 && c == pdi && i < len(runes)-1 {
					t.Fatalf("%+q closes too early", l)
				}
			}
			if closing, strays := unclosed(l, nil); len(closing) > 0 || strays > 0 {
				t.Fatalf("%+q is not balanced", l)
			}
		}
	})
}

func TestControlsAreVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\x00b": "a␀b", "\x1b[31m": "␛[31m", "a\x7fb": "a␡b", "a\u0085b": "a\ufffdb", "a\tb": "a b", "a\r\nb\rc": "a b c", "a\u2029b": "a b",
	} {
		if got := line(in, 0); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	made := render(t, orders.TypeText, encode(t, map[string]string{"text": "one\ntwo\x00"}))
	if made.Plain != "one\ntwo␀" {
		t.Errorf("got %q", made.Plain)
	}
}

func TestAnyPayloadMakesAGoodText(t *testing.T) {
	r := newRenderer(t)
	word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "<b>", strings.Repeat("ж", 5000), strings.Repeat("\u202e", 300), strings.Repeat("🎩", 2100), strings.Repeat("&", 4097), strings.Repeat("e\u0301", 4000), strings.Repeat("\u2069", 5000),
	}))
	rapid.Check(t, func(t *rapid.T) {
		p := orders.Payload{
			OrderID: 1, Number: word.Draw(t, "number"), CustomerName: word.Draw(t, "name"), Locale: word.Draw(t, "locale"),
			Currency: word.Draw(t, "currency"), Note: word.Draw(t, "note"), TrackingURL: word.Draw(t, "url"),
		}
		if rapid.Bool().Draw(t, "has total") {
			p.TotalCents = cents(rapid.Int64().Draw(t, "total"))
		}
		for i := range rapid.IntRange(0, 80).Draw(t, "items") {
			p.Items = append(p.Items, orders.Item{Name: fmt.Sprint(i, " ", p.Note), Quantity: int64(i), UnitPriceCents: int64(i)})
		}
		messageType := rapid.SampledFrom(orderTypes).Draw(t, "type")
		made, err := fit(r.catalog["en"][messageType], p, newMoney(p.Locale))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := visible(made.HTML)
		if err != nil || plain != made.Plain || units(plain) > maxUnits || len(made.HTML) > maxBytes {
			t.Fatalf("%v, %d units, %d bytes", err, units(plain), len(made.HTML))
		}
		if !blank(p.Number) && len(p.Number) < 40 && !strings.Contains(plain, line(p.Number, 0)) {
			t.Fatalf("the number %q is not in\n%s", p.Number, plain)
		}
	})
}
