package httpapi_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Field case ID-1: the same request many times at once is one order, and everybody hears of it.
func TestID1ParallelDuplicates(t *testing.T) {
	s := open(t)
	const keys, copies = 20, 30
	for k := range keys {
		body := fmt.Sprintf(`{"customer":{"id":"c-%d"},"currency":"EUR","totalCents":100}`, k)
		answers := make([]reply, copies)
		var all sync.WaitGroup
		for i := range copies {
			all.Go(func() { answers[i] = s.post("/orders", body, fmt.Sprintf("Idempotency-Key: k-%d", k)) })
		}
		all.Wait()
		replayed := 0
		for _, r := range answers {
			if r.status != http.StatusCreated || string(r.body) != string(answers[0].body) || r.header.Get("Location") == "" {
				t.Fatalf("status %d: %s", r.status, r.body)
			}
			if r.header.Get("Idempotent-Replayed") == "true" {
				replayed++
			}
		}
		if replayed != copies-1 {
			t.Errorf("%d of %d were repetitions", replayed, copies)
		}
	}
	if got := s.counts(); got != [3]int{keys, keys, keys} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

// Field case ID-2: a key with another body is refused, and changes nothing.
func TestID2AnotherBodyUnderTheSameKey(t *testing.T) {
	s := open(t)
	first := s.post("/orders", anOrder, "Idempotency-Key: k").want(http.StatusCreated)
	for _, body := range []string{
		strings.Replace(anOrder, "A-1001", "A-1002", 1),
		strings.Replace(anOrder, `"totalCents":2500`, `"totalCents":2501`, 1),
		strings.Replace(anOrder, `"note":""`, `"note":"x"`, 1),
	} {
		s.post("/orders", body, "Idempotency-Key: k").refused(http.StatusUnprocessableEntity, "idempotency_key_reused", "")
	}
	// The same value in other words is the same request.
	again := strings.NewReplacer(`"totalCents":2500`, ` "totalCents" : 2500`, `1.50`, `15e-1`, "Anna", `\u0041nna`).Replace(anOrder)
	if r := s.post("/orders", again, `Idempotency-Key: "k"`).want(http.StatusCreated); string(r.body) != string(first.body) {
		t.Errorf("repetition %s\nfirst %s", r.body, first.body)
	}
	// Elsewhere the key is another.
	s.post("/orders/1/status", `{"status":"paid"}`, "Idempotency-Key: k").want(http.StatusOK)
	if got := s.counts(); got != [3]int{1, 2, 2} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

// Field case ID-4, the restart: a key is found after the process that stored it is gone, and
// behind many others.
func TestID4KeysOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	s := openAt(t, path)
	first := s.post("/orders", anOrder, "Idempotency-Key: k").want(http.StatusCreated)
	s.close()
	s = openAt(t, path)
	for i := range 300 {
		s.post("/messages", `{"chatId":701,"text":"hello"}`, fmt.Sprintf("Idempotency-Key: m-%d", i)).want(http.StatusCreated)
	}
	again := s.post("/orders", anOrder, "Idempotency-Key: k").want(http.StatusCreated)
	if string(again.body) != string(first.body) || again.header.Get("Location") != "/orders/1" {
		t.Errorf("after the restart %s\nfirst %s", again.body, first.body)
	}
	if got := s.counts(); got != [3]int{1, 301, 301} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

// Field case ID-6: the same change twenty times at once is told once; late ones are refused.
func TestID6StatusChangesThroughTheAPI(t *testing.T) {
	s := open(t)
	s.post("/orders", anOrder).want(http.StatusCreated)
	var all sync.WaitGroup
	var mu sync.Mutex
	changed := 0
	for range 20 {
		all.Go(func() {
			r := s.post("/orders/1/status", `{"status":"shipped"}`)
			mu.Lock()
			defer mu.Unlock()
			if r.status != http.StatusOK {
				t.Errorf("status %d: %s", r.status, r.body)
			} else if r.field("changed") == true {
				changed++
			}
		})
	}
	all.Wait()
	s.post("/orders/1/status", `{"status":"paid"}`).refused(http.StatusConflict, "status_conflict", "")
	s.post("/orders/1/status", `{"status":"delivered"}`).want(http.StatusOK)
	if changed != 1 {
		t.Errorf("changed %d times", changed)
	}
	list := s.get("/messages?orderId=1").want(http.StatusOK)
	for i, want := range []string{"OrderDelivered", "OrderShipped", "OrderPlaced"} {
		if got := list.field("items", i, "type"); got != want {
			t.Errorf("message %d is %v, want %s", i, got, want)
		}
	}
	if got := s.counts()[1]; got != 3 {
		t.Errorf("%d messages", got)
	}
}

func TestIdempotencyKeysAreVisibleASCII(t *testing.T) {
	s := open(t)
	const pointer = "/header/Idempotency-Key"
	for _, key := range []string{"", `""`, "a b", "é", "a\x00b", "\x7f", `"open`, strings.Repeat("x", 256)} {
		s.post("/messages", `{"chatId":1,"text":"x"}`, "Idempotency-Key: "+key).
			refused(http.StatusUnprocessableEntity, "invalid_request", pointer)
	}
	for _, key := range []string{"a", `a"b`, strings.Repeat("x", 255), `"` + strings.Repeat("y", 255) + `"`} {
		s.post("/messages", `{"chatId":1,"text":"x"}`, "Idempotency-Key: "+key).want(http.StatusCreated)
	}
	if got := s.counts(); got != [3]int{0, 4, 4} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	s := open(t)
	s.post("/orders/1/status", `{"status":"paid"}`, "Idempotency-Key: k").refused(http.StatusNotFound, "not_found", "")
	s.post("/orders", anOrder).want(http.StatusCreated)
	s.post("/orders/1/status", `{"status":"paid"}`, "Idempotency-Key: k").want(http.StatusOK)
}
