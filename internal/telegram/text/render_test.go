package text

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/orders"
)

var builtInRenderer = sync.OnceValues(func() (*Renderer, error) { return New(Options{}) })

func newRenderer(t testing.TB) *Renderer {
	t.Helper()
	r, err := builtInRenderer()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encode(t testing.TB, payload any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// render makes a text and holds what must be true of every one.
func render(t testing.TB, messageType string, payload json.RawMessage) Text {
	t.Helper()
	made, err := newRenderer(t).Render(messageType, payload)
	if err != nil {
		t.Fatalf("%s: %v", messageType, err)
	}
	plain, err := visible(made.HTML)
	if err != nil {
		t.Fatalf("%s: %v in\n%s", messageType, err, made.HTML)
	}
	if plain != made.Plain {
		t.Errorf("the plain text differs\n%s", cmp.Diff(plain, made.Plain))
	}
	if n := units(plain); n < 1 || n > maxUnits || len(made.HTML) > maxBytes {
		t.Errorf("%d units, %d bytes", n, len(made.HTML))
	}
	return made
}

// refused checks the reason of an error and that it holds nothing of the payload.
func refused(t *testing.T, err error, reason string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Reason() != reason || e.Detail() == "" || len([]rune(e.Detail())) > 200 || strings.Contains(e.Error(), "hush") {
		t.Errorf("got %v, want the reason %s", err, reason)
	}
}

func cents(n int64) *int64 { return &n }

func TestEveryTypeNamesWhatMatters(t *testing.T) {
	status := map[string]string{
		orders.TypePlaced: "placed", orders.TypePaid: "paid", orders.TypeReady: "ready", orders.TypeShipped: "shipped",
		orders.TypeDelivered: "delivered", orders.TypeCanceled: "canceled", orders.TypeRefunded: "refunded",
		orders.TypeTracking: "News", orders.TypeStaffPlaced: "New order",
	}
	for _, messageType := range orderTypes {
		plain := render(t, messageType, encode(t, goldenPayloads()["full"])).Plain
		for _, want := range []string{"A-1001", "Anna", "€31.00", "Leave it at the door.\nRing twice.", status[messageType]} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s lacks %q:\n%s", messageType, want, plain)
			}
		}
		if tracks := !strings.Contains("OrderCanceled OrderRefunded", messageType); tracks != strings.Contains(plain, "https://track.example/?id=1&x=2") {
			t.Errorf("%s: tracking link\n%s", messageType, plain)
		}
		if plain := render(t, messageType, json.RawMessage(`{"orderId":17}`)).Plain; !strings.Contains(plain, "#17") || strings.Contains(plain, "Total") {
			t.Errorf("%s of an order with an id only:\n%s", messageType, plain)
		}
	}
}

func TestRenderRefusesBadPayloads(t *testing.T) {
	r := newRenderer(t)
	for _, messageType := range orderTypes {
		for _, payload := range []string{
			``, `null`, `{}`, `[]`, `"hush"`, `5`, `{"number":""}`, `{"number":"  "}`, `{"orderId":0}`, `{"orderId":-1}`,
			`{"orderId":"17"}`, `{"orderId":1.5}`, `{"orderId":1e3}`, `{"orderId":9223372036854775808}`, `{"number":7}`,
			`{"number":"1","totalCents":"hush"}`, `{"number":"1","totalCents":1.5}`, `{"number":"1","items":{}}`,
			`{"number":"1","items":[{"name":5}]}`, `{"number":"1","items":[{"quantity":"hush"}]}`, `{"number":"hush`,
			`{"number":"a\ud800b"}`, `{"number":"\udc00"}`, `{"number":"\ud83c\u0041"}`, "{\"number\":\"a\xffb\"}", "{\"number\":\"caf\xe9\"}",
		} {
			_, err := r.Render(messageType, json.RawMessage(payload))
			refused(t, err, reasonTemplateError)
			refused(t, r.check(messageType, json.RawMessage(payload)), reasonTemplateError)
		}
	}
	_, err := r.Render("hush", json.RawMessage(`{"number":"1"}`))
	refused(t, err, reasonTemplateError)
}

func TestRenderTakesUnusualPayloads(t *testing.T) {
	for payload, want := range map[string]string{
		`{"number":"1","more":{"unknown":[1]}}`:             "Order 1 is",
		`{"number":"\ud83c\udfa9"}`:                         "Order 🎩 is",
		`{"number":"\\ud800"}`:                              `Order \ud800 is`,
		`{"number":"\\\ud83c\udfa9"}`:                       `Order \🎩 is`,
		`{"number":"1","locale":"xx"}`:                      "Order 1 is",
		`{"number":"1","locale":"../en"}`:                   "Order 1 is",
		`{"number":"1","locale":"EN_gb"}`:                   "Order 1 is",
		`{"number":"1","items":null,"totalCents":null}`:     "Order 1 is",
		`{"number":"1","totalCents":2500}`:                  "Total: 25.00",
		`{"number":"1","totalCents":2500,"currency":"XB1"}`: "Total: XB1\u00a025.00",
		`{"number":"1","totalCents":2500,"currency":"eur"}`: "Total: €25.00",
	} {
		if plain := render(t, orders.TypePaid, json.RawMessage(payload)).Plain; !strings.Contains(plain, want) {
			t.Errorf("%s: want %q in\n%s", payload, want, plain)
		}
	}
}

func TestOwnTemplates(t *testing.T) {
	own := fstest.MapFS{
		"en/OrderPaid.html":     {Data: []byte(`Paid: <b>{{.Order}}</b>{{template "total" .}}`)},
		"xx/OrderPaid.html":     {Data: []byte(`Xx <i>{{.Order}}</i> {{.Total}}`)},
		"README/note.txt":       {Data: []byte(`{{`)},
		"xx/OrderPaid.html.bak": {Data: []byte(`{{`)},
	}
	r, err := New(Options{Templates: own})
	if err != nil {
		t.Fatal(err)
	}
	for payload, want := range map[string]string{
		`{"orderId":1,"totalCents":5,"currency":"EUR"}`: "Paid: <b>#1</b>\nTotal: <b>€0.05</b>",
		`{"orderId":1,"locale":"xx-YY"}`:                "Xx <i>#1</i>",
	} {
		if made, err := r.Render(orders.TypePaid, json.RawMessage(payload)); err != nil || made.HTML != want {
			t.Errorf("%s: got %q, %v", payload, made.HTML, err)
		}
	}
	made, err := r.Render(orders.TypeShipped, json.RawMessage(`{"orderId":1,"locale":"xx"}`))
	if err != nil || !strings.Contains(made.Plain, "is shipped") {
		t.Errorf("a type that the language lacks: got %q, %v", made.Plain, err)
	}
}

func TestNewFindsFaults(t *testing.T) {
	for name, o := range map[string]Options{
		"locale":     {Locale: "xx"},
		"incomplete": {Locale: "xx", Templates: fstest.MapFS{"xx/OrderPaid.html": {Data: []byte("{{.Order}}")}}},
		"syntax":     {Templates: fstest.MapFS{"en/OrderPaid.html": {Data: []byte("{{.Order")}}},
		"field":      {Templates: fstest.MapFS{"en/OrderPaid.html": {Data: []byte("{{.Secret}}")}}},
		"block":      {Templates: fstest.MapFS{"en/OrderPaid.html": {Data: []byte(`{{template "none" .}}`)}}},
		"tag":        {Templates: fstest.MapFS{"en/OrderPaid.html": {Data: []byte("{{.Order}}<br>")}}},
		"blank":      {Templates: fstest.MapFS{"en/OrderPaid.html": {Data: []byte("{{.Note}}")}}},
		"too long":   {Templates: fstest.MapFS{"en/OrderPaid.html": {Data: []byte(strings.Repeat("x", 5000))}}},
	} {
		r, err := New(o)
		if err == nil {
			t.Errorf("%s: no error, got %v", name, r)
			continue
		}
		if o.Locale == "" && !strings.Contains(err.Error(), "en/OrderPaid.html") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
