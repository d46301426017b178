package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// order is anOrder with a part of it replaced.
func order(old, replacement string) string {
	changed := strings.Replace(anOrder, old, replacement, 1)
	if changed == anOrder {
		panic("nothing to replace: " + old)
	}
	return changed
}

// Field case TX-7: a NUL is refused wherever it is, and the field is named.
func TestTX7NULIsRefused(t *testing.T) {
	s := open(t)
	const invalid = "invalid_request"
	for pointer, body := range map[string]string{
		"/customer/name":    order("Anna", `a\u0000b`),
		"/customer/id":      order("c-17", `\u0000`),
		"/number":           order("A-1001", `A\u0000`),
		"/items/0/name":     order("Tea", `\u0000Tea`),
		"/note":             order(`"note":""`, `"note":"\u0000"`),
		"/metadata/k":       order(`{"a":1.50}`, `{"k":"\u0000"}`),
		"/metadata/a\u0000": order(`"a":1.50`, `"a\u0000":1`),
	} {
		s.post("/orders", body).refused(http.StatusUnprocessableEntity, invalid, pointer)
	}
	s.post("/orders/1/status", `{"status":"paid","note":"\u0000"}`).refused(http.StatusUnprocessableEntity, invalid, "/note")
	s.get("/orders?number=a%00b").refused(http.StatusUnprocessableEntity, invalid, "/query/number")
	s.get("/orders/1%00").refused(http.StatusUnprocessableEntity, invalid, "/path")
	if got := s.counts(); got != [3]int{} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

// Field case TX-8: broken Unicode is refused, never altered.
func TestTX8BrokenUnicodeIsRefused(t *testing.T) {
	s := open(t)
	for _, name := range []string{"\xff", `a\ud800b`, `\udfa9`, `\ud83cx`, `\ud83c\ud83c`, "caf\xe9", `\\\ud800`} {
		s.post("/orders", order("Anna", name)).refused(http.StatusBadRequest, "invalid_unicode", "")
	}
	s.get("/orders?number=%ff").refused(http.StatusBadRequest, "invalid_unicode", "")
	if got := s.counts(); got != [3]int{} {
		t.Fatalf("orders, messages, keys: %v", got)
	}
	for i, c := range [][2]string{{`\ud83c\udfa9`, "🎩"}, {`\\ud800`, `\ud800`}, {`é`, "é"}, {"�", "�"}} {
		body := fmt.Sprintf(`{"chatId":701,"text":"%s"}`, c[0])
		s.post("/messages", body).want(http.StatusCreated)
		if got := s.get(fmt.Sprintf("/messages/%d", i+1)).field("payload", "text"); got != c[1] {
			t.Errorf("%s came out as %v", c[0], got)
		}
	}
}

// Field case TX-11, as far as the API goes: an amount is a whole number, kept to the last digit.
func TestTX11MoneyIsExact(t *testing.T) {
	s := open(t)
	for _, amount := range []string{"1e3", "1.5", "1.0", `"1230"`, "-1", "9223372036854775808", "true", "[1]", "null", "1e999999999"} {
		s.post("/orders", order(`"totalCents":2500`, `"totalCents":`+amount)).
			refused(http.StatusUnprocessableEntity, "invalid_request", "/totalCents")
		if amount == "null" {
			continue // a unit price may be left out
		}
		s.post("/orders", order(`"unitPriceCents":1250`, `"unitPriceCents":`+amount)).
			refused(http.StatusUnprocessableEntity, "invalid_request", "/items/0/unitPriceCents")
	}
	for _, amount := range []string{"0", "18245", "43500", "9007199254740993", "9223372036854775807"} {
		r := s.post("/orders", `{"customer":{"id":"c"},"currency":"KWD","totalCents":`+amount+`}`).want(http.StatusCreated)
		if got := r.field("totalCents"); got != amount {
			t.Errorf("%s came out as %v", amount, got)
		}
		message := fmt.Sprintf("/messages/%v", r.field("messages", 0, "messageId"))
		if got := s.get(message).field("payload", "totalCents"); got != amount {
			t.Errorf("%s is told as %v", amount, got)
		}
	}
	s.post("/orders", order(`"quantity":2,"unitPriceCents":1250`, `"quantity":9223372036854775807,"unitPriceCents":2`)).
		refused(http.StatusUnprocessableEntity, "invalid_request", "/items/0/quantity")
}

func TestEveryFieldIsChecked(t *testing.T) {
	s := open(t)
	items := strings.TrimSuffix(strings.Repeat(`{"name":"Tea"},`, 201), ",")
	for _, c := range []struct{ pointer, body string }{
		{"/customer", `{"currency":"EUR","totalCents":1}`},
		{"/customer/id", `{"customer":{},"currency":"EUR","totalCents":1}`},
		{"/customer/id", order("c-17", "")},
		{"/customer/id", order("c-17", strings.Repeat("é", 201))},
		{"/customer/name", order("Anna", strings.Repeat("é", 201))},
		{"/customer/locale", order(`"ru"`, `"r u"`)},
		{"/customer/chatId", order("7900000001", "0")},
		{"/customer/chatId", order("7900000001", "4503599627370496")},
		{"/customer/chatId", order("7900000001", `"7900000001"`)},
		{"/customer/id", order(`"id":"c-17"`, `"ID":"c-17"`)},
		{"/currency", `{"customer":{"id":"c"},"totalCents":1}`},
		{"/currency", order(`"EUR"`, `"eur"`)},
		{"/currency", order(`"EUR"`, `978`)},
		{"/totalCents", `{"customer":{"id":"c"},"currency":"EUR"}`},
		{"/items", order(`[{"name":"Tea","quantity":2,"unitPriceCents":1250}]`, "["+items+"]")},
		{"/items", order(`[{"name":"Tea","quantity":2,"unitPriceCents":1250}]`, `{}`)},
		{"/items/0/name", order(`"name":"Tea",`, "")},
		{"/items/0/quantity", order(`"quantity":2`, `"quantity":0`)},
		{"/items/0/price", order(`"quantity":2`, `"price":2`)},
		{"/note", order(`"note":""`, `"note":"`+strings.Repeat("n", 1001)+`"`)},
		{"/number", order("A-1001", strings.Repeat("9", 201))},
		{"/metadata", order(`{"a":1.50}`, `[]`)},
		{"/metadata", order(`{"a":1.50}`, `{"a":"`+strings.Repeat("m", 4096)+`"}`)},
		{"/colour", order(`"note":""`, `"colour":"red"`)},
		{"/a.b[0]~1~0", order(`"note":""`, `"a.b[0]/~":1`)},
		{"/note", order(`"note":""`, `"note":"a","note":"b"`)},
		{"/metadata/a", order(`"a":1.50`, `"a":1,"\u0061":2`)},
	} {
		s.post("/orders", c.body).refused(http.StatusUnprocessableEntity, "invalid_request", c.pointer)
	}
	if got := s.counts(); got != [3]int{} {
		t.Errorf("orders, messages, keys: %v", got)
	}
	// At the limits, and with null for what may be left out.
	s.post("/orders", order("Anna", strings.Repeat("é", 200))).want(http.StatusCreated)
	s.post("/orders", `{"number":null,"customer":{"id":"c","name":null,"chatId":null},"currency":"EUR","totalCents":1,"items":null,"metadata":null}`).
		want(http.StatusCreated)
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	s := open(t)
	for _, body := range []string{"{", anOrder + "x", anOrder + anOrder, "{'a':1}", `{"a":01}`, `{"a":1,}`, "\xef\xbb\xbf{}", "NaN",
		strings.Repeat("[", 20000), `{"a":"` + "\n" + `"}`} {
		s.post("/orders", body).refused(http.StatusBadRequest, "invalid_json", "")
	}
	s.post("/orders", "").refused(http.StatusBadRequest, "body_required", "")
	for _, body := range []string{`null`, `[]`, `"x"`, `1`} {
		if r := s.post("/orders", body); r.status != http.StatusUnprocessableEntity && r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	deep := order(`{"a":1.50}`, `{"a":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+"}")
	if r := s.post("/orders", deep); r.status != http.StatusUnprocessableEntity {
		t.Errorf("deep: %d %s", r.status, r.body)
	}
}

func TestBodiesAreOneMebibyteAtMost(t *testing.T) {
	s := open(t)
	const wrap = `{"chatId":1,"type":"X","payload":{"a":""},"text":null}`
	pad := func(size int) string { return wrap + strings.Repeat(" ", size-len(wrap)) }
	s.post("/messages", pad(1<<20)).want(http.StatusCreated)
	s.post("/messages", pad(1<<20+1)).refused(http.StatusRequestEntityTooLarge, "body_too_large", "")
}

func TestOnlyJSONIsTaken(t *testing.T) {
	s := open(t)
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "", "json"} {
		s.post("/orders", anOrder, "Content-Type: "+kind).refused(http.StatusUnsupportedMediaType, "unsupported_media_type", "")
	}
	s.post("/orders", anOrder, "Content-Type: Application/JSON; Charset=UTF-8").want(http.StatusCreated)
	s.call(http.MethodPost, "/messages/1/cancel", "").want(http.StatusOK)
}

func TestUnknownPathsAndMethods(t *testing.T) {
	s := open(t)
	for _, path := range []string{"/", "/order", "/orders/", "/orders//1", "/orders/1/", "/admin", "/openapi", "/schemas/X", "/orders/../orders"} {
		s.get(path).refused(http.StatusNotFound, "not_found", "")
	}
	r := s.call(http.MethodDelete, "/orders", "").refused(http.StatusMethodNotAllowed, "method_not_allowed", "")
	if got := r.header.Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("allow %q", got)
	}
	s.call(http.MethodGet, "/orders/1/status", "").refused(http.StatusMethodNotAllowed, "method_not_allowed", "")
	s.get("/orders/x").refused(http.StatusUnprocessableEntity, "invalid_request", "/path/orderId")
	s.get("/orders/7").refused(http.StatusNotFound, "not_found", "")
	s.get("/messages/7").refused(http.StatusNotFound, "not_found", "")
	s.get("/orders?limit=1&limit=2").refused(http.StatusUnprocessableEntity, "invalid_request", "/query/limit")
	s.get("/orders?limit=%zz").refused(http.StatusBadRequest, "invalid_url", "")
}
