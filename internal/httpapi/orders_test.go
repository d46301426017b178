package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"notifier/internal/httpapi"
	"notifier/internal/orders"
)

func TestPlaceAnswersWithTheOrderAndItsMessage(t *testing.T) {
	s := open(t)
	r := s.post("/orders", anOrder).want(http.StatusCreated)
	if got := r.header.Get("Location"); got != "/orders/1" {
		t.Errorf("location %q", got)
	}
	want := `{"orderId":1,"number":"A-1001","status":"placed","customerId":"c-17","totalCents":2500,"currency":"EUR",` +
		`"createdAt":"2026-03-01T09:00:00Z","updatedAt":"2026-03-01T09:00:00Z",` +
		`"items":[{"name":"Tea","quantity":2,"unitPriceCents":1250}],"note":"","metadata":{"a":1.50},"statusNote":"","trackingUrl":"",` +
		`"messages":[{"messageId":1,"recipient":"7900000001","type":"OrderPlaced","state":"pending"}]}`
	if got := strings.TrimSpace(string(r.body)); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	if s.woken.Load() != 1 {
		t.Errorf("the sender was woken %d times", s.woken.Load())
	}
	shown := s.get("/orders/1").want(http.StatusOK)
	if got := shown.field("summary"); !strings.HasPrefix(fmt.Sprint(got), "Order A-1001 is placed; the customer has not been told yet: ") {
		t.Errorf("summary %q", got)
	}
	if got := shown.field("messages", 0, "messageId"); got != "1" {
		t.Errorf("message %v", got)
	}
}

func TestACustomerWithoutAChatIsAskedToConnect(t *testing.T) {
	s := open(t)
	r := s.post("/orders", `{"customer":{"id":"c-1"},"currency":"EUR","totalCents":0}`, "Idempotency-Key: k").want(http.StatusCreated)
	if !strings.Contains(string(r.body), `"connectUrl":null`) {
		t.Errorf("no connectUrl in %s", r.body)
	}
	if got := r.field("messages", 0, "recipient"); got != "customer:c-1" {
		t.Errorf("recipient %v", got)
	}
	// Once there is a chat, even the repeated answer says so.
	s.post("/orders", `{"customer":{"id":"c-1","chatId":701},"currency":"EUR","totalCents":0}`).want(http.StatusCreated)
	r = s.post("/orders", `{"customer":{"id":"c-1"},"currency":"EUR","totalCents":0}`, "Idempotency-Key: k").want(http.StatusCreated)
	if strings.Contains(string(r.body), "connectUrl") || r.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("headers %v, body %s", r.header, r.body)
	}
	if got := s.get("/messages/1").field("recipient"); got != "701" {
		t.Errorf("the waiting message goes to %v", got)
	}
}

func TestTheStaffHears(t *testing.T) {
	s := open(t, func(c *httpapi.Config) { c.Orders = orders.New(c.Outbox, -100500) })
	r := s.post("/orders", anOrder).want(http.StatusCreated)
	if got := r.field("messages", 1, "recipient"); got != "-100500" {
		t.Errorf("recipient %v", got)
	}
	if got := s.get("/orders/1").field("messages", 1, "type"); got != "StaffOrderPlaced" {
		t.Errorf("type %v", got)
	}
}

func TestARepeatedNumberIsAConflict(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder).want(http.StatusCreated)
	for _, header := range []string{"X-Nothing: 1", "Idempotency-Key: another"} {
		r := s.post("/orders", anOrder, header).refused(http.StatusConflict, "order_exists", "")
		if got := r.field("orderId"); got != "1" {
			t.Errorf("orderId %v", got)
		}
	}
	if got := s.counts(); got != [3]int{1, 1, 0} {
		t.Errorf("orders, messages, keys: %v", got)
	}
	if s.woken.Load() != 1 {
		t.Errorf("the sender was woken %d times", s.woken.Load())
	}
}

func TestStatusChanges(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder).want(http.StatusCreated)
	r := s.post("/orders/1/status", `{"status":"shipped","note":"by bike","trackingUrl":"https://post.example/1"}`).want(http.StatusOK)
	if r.field("changed") != true || r.field("status") != "shipped" || r.field("messages", 0, "type") != "OrderShipped" {
		t.Errorf("first: %s", r.body)
	}
	r = s.post("/orders/1/status", `{"status":"shipped"}`).want(http.StatusOK)
	if r.field("changed") != false || !strings.Contains(string(r.body), `"messages":[]`) {
		t.Errorf("again: %s", r.body)
	}
	s.post("/orders/1/status", `{"status":"paid"}`).refused(http.StatusConflict, "status_conflict", "")
	s.post("/orders/1/status", `{"status":"lost"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/status")
	s.post("/orders/1/status", `{"status":"shipped","trackingUrl":"javascript:alert(1)"}`).
		refused(http.StatusUnprocessableEntity, "invalid_request", "/trackingUrl")
	s.post("/orders/2/status", `{"status":"paid"}`).refused(http.StatusNotFound, "not_found", "")
}

func TestOrdersAreListedInPages(t *testing.T) {
	s := open(t)
	for i := range 5 {
		s.post("/orders", fmt.Sprintf(`{"number":"A-%d","customer":{"id":"c-1"},"currency":"JPY","totalCents":%d}`, i, i)).want(http.StatusCreated)
	}
	first := s.get("/orders?limit=2&customerId=c-1").want(http.StatusOK)
	if first.field("items", 0, "number") != "A-4" || first.field("items", 1, "number") != "A-3" {
		t.Errorf("first page %s", first.body)
	}
	second := s.get("/orders?limit=3&customerId=c-1&after=" + fmt.Sprint(first.field("next"))).want(http.StatusOK)
	if second.field("items", 2, "number") != "A-0" || second.field("next") != "" {
		t.Errorf("last page %s", second.body)
	}
	if r := s.get("/orders?number=A-2").want(http.StatusOK); r.field("items", 0, "orderId") != "3" {
		t.Errorf("by number %s", r.body)
	}
	if r := s.get("/orders?number=Z").want(http.StatusOK); strings.TrimSpace(string(r.body)) != `{"items":[],"next":""}` {
		t.Errorf("nothing is %s", r.body)
	}
	s.get("/orders?after=x").refused(http.StatusUnprocessableEntity, "invalid_request", "/query/after")
	s.get("/orders?limit=0").refused(http.StatusUnprocessableEntity, "invalid_request", "/query/limit")
	s.get("/orders?colour=red").refused(http.StatusUnprocessableEntity, "invalid_request", "/query/colour")
}

// Field case OB-16, as far as the API goes: what is refused leaves no order and no message.
func TestOB16RefusedOrdersLeaveNothing(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder, "Idempotency-Key: first").want(http.StatusCreated)
	before := s.counts()
	for _, body := range []string{
		anOrder, // its number is taken
		strings.Replace(anOrder, `"EUR"`, `"ZZZ"`, 1),
		strings.Replace(strings.Replace(anOrder, "A-1001", "A-1002", 1), `2500`, `-1`, 1),
	} {
		if r := s.post("/orders", body, "Idempotency-Key: second"); r.status < 400 || r.status >= 500 {
			t.Errorf("status %d: %s", r.status, r.body)
		}
	}
	if got := s.counts(); got != before {
		t.Errorf("orders, messages, keys: %v, before %v", got, before)
	}
}
