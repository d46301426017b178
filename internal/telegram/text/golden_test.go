package text

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/orders"
)

var update = flag.Bool("update", false, "write the golden files anew")

func goldenPayloads() map[string]orders.Payload {
	return map[string]orders.Payload{
		"full": {
			OrderID: 17, Number: "A-1001", CustomerName: "Anna", Locale: "en", Currency: "EUR", TotalCents: cents(3100),
			Items: []orders.Item{{Name: "Green tea", Quantity: 2, UnitPriceCents: 1250}, {Name: "Cup", Quantity: 1, UnitPriceCents: 600}},
			Note:  "Leave it at the door.\nRing twice.", TrackingURL: "https://track.example/?id=1&x=2",
		},
		"least": {OrderID: 17},
		"hostile": {
			Number: "</b>1", CustomerName: "<3 {{.Secret}} &lt; %s%n", Currency: "<i>", TotalCents: cents(-5),
			Items: []orders.Item{{Name: "a<<b>>c", Quantity: -1}, {Name: "\u202egnp.exe", Quantity: 1, UnitPriceCents: 1}, {}},
			Note:  "one\x00two\r\n\u202ethree", TrackingURL: "javascript:alert('1')",
		},
	}
}

func goldenAnswers() map[string]orders.ReplyPayload {
	two := []orders.OpenOrder{
		{OrderID: 18, Number: "A-1002", Status: "shipped", Currency: "EUR", TotalCents: 3100},
		{OrderID: 17, Status: "placed", Currency: "JPY", TotalCents: 500},
	}
	return map[string]orders.ReplyPayload{
		"full":    {CustomerName: "Anna", Orders: two, OpenOrders: 5},
		"one":     {CustomerName: "Anna", Orders: two[:1], OpenOrders: 1},
		"none":    {},
		"stopped": {Stopped: true, Orders: two, OpenOrders: 2},
		"hostile": {CustomerName: "<3 {{.Secret}}\n\u202e&lt;", OpenOrders: -7, Orders: []orders.OpenOrder{
			{Number: "</b>\u202e1", Status: "<i>lost</i>", Currency: "<i>", TotalCents: -5}, {}}},
	}
}

// goldenTexts are the payloads of a type, by name, in a language.
func goldenTexts(t *testing.T, messageType, language string) map[string]json.RawMessage {
	t.Helper()
	made := map[string]json.RawMessage{}
	for name, p := range goldenPayloads() {
		p.Locale = language
		made[name] = encode(t, p)
	}
	for _, known := range replyTypes {
		if known != messageType {
			continue
		}
		clear(made)
		for name, p := range goldenAnswers() {
			p.Locale = language
			made[name] = encode(t, p)
		}
	}
	return made
}

func TestGolden(t *testing.T) {
	for _, language := range []string{"en", "ru"} {
		known := map[string]bool{}
		for _, messageType := range templateTypes() {
			for name, payload := range goldenTexts(t, messageType, language) {
				file := messageType + "." + name + ".golden"
				known[file] = true
				t.Run(language+"/"+messageType+"/"+name, func(t *testing.T) {
					made := render(t, messageType, payload)
					golden(t, filepath.Join("testdata", language, file), made)
				})
			}
		}
		wantFiles(t, filepath.Join("testdata", language), known)
	}
}

func golden(t *testing.T, file string, made Text) {
	t.Helper()
	got := made.HTML + "\n\n=== plain ===\n\n" + made.Plain + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// wantFiles finds golden files that no test reads.
func wantFiles(t *testing.T, folder string, known map[string]bool) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("%s/%s belongs to no type", folder, e.Name())
		}
		delete(known, e.Name())
	}
	for name := range maps.Keys(known) {
		t.Errorf("%s/%s is missing", folder, name)
	}
}

func TestBothLanguagesHaveEveryType(t *testing.T) {
	r := newRenderer(t)
	for _, language := range []string{"en", "ru"} {
		for _, messageType := range templateTypes() {
			if r.catalog[language][messageType] == nil {
				t.Errorf("%s has no %s", language, messageType)
			}
		}
		if _, err := New(Options{Locale: language}); err != nil {
			t.Errorf("%s as the shop's language: %v", language, err)
		}
	}
}
