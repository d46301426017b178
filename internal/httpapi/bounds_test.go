package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestN3TimesOutOfBoundsAreRefused(t *testing.T) {
	s := open(t)
	for at, ok := range map[string]bool{
		"2001-09-09T01:46:39Z": false, "2001-09-09T01:46:40Z": true, "0000-01-01T00:00:00Z": false, "1970-01-01T00:00:00Z": false,
		"0001-01-01T00:00:00Z": false, "2286-11-20T17:46:39.999Z": true, "2286-11-20T17:46:40Z": false,
		"9999-12-31T23:59:59-23:59": false, "0000-01-01T00:00:00+23:59": false,
	} {
		body := fmt.Sprintf(`{"chatId":701,"text":"x","notBefore":%q}`, at)
		if ok {
			s.post("/messages", body).want(http.StatusCreated)
		} else {
			s.post("/messages", body).refused(http.StatusUnprocessableEntity, "invalid_request", "/notBefore")
		}
		for _, path := range []string{"/messages/retry", "/chats/revive"} {
			r := s.post(path, fmt.Sprintf(`{"state":"dead","since":%q,"dryRun":true}`, at))
			if at == "0001-01-01T00:00:00Z" { // the zero of a time: as if it were left out
				continue
			}
			if ok {
				r.want(http.StatusOK)
			} else {
				r.refused(http.StatusUnprocessableEntity, "invalid_request", "/since")
			}
		}
	}
	s.post("/messages", `{"chatId":701,"text":"x","expiresAt":"2290-01-01T00:00:00Z"}`).refused(http.StatusUnprocessableEntity, "invalid_request", "/expiresAt")
	s.get("/messages").want(http.StatusOK)
}

// A long key above many small values, and many wrong fields, cost what their bytes cost.
func TestN2ALargeBodyOfSmallElementsIsReadInNoTime(t *testing.T) {
	s := open(t)
	key := strings.Repeat("k", 400<<10)
	ones := strings.TrimSuffix(strings.Repeat("1,", 300<<10), ",")
	for name, body := range map[string]string{
		"metadata":     `{"customer":{"id":"c"},"currency":"EUR","totalCents":1,"metadata":{"` + key + `":[` + ones + `]}}`,
		"unknown":      `{"` + key + `":[` + ones + `]}`,
		"wrong items":  `{"customer":{"id":"c"},"currency":"EUR","totalCents":1,"items":[` + ones + `]}`,
		"many objects": `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"a":1},`, 100<<10), ",") + `]}`,
	} {
		began := time.Now()
		r := s.post("/orders", body).refused(http.StatusUnprocessableEntity, "invalid_request", "")
		t.Logf("%s: %v", name, time.Since(began).Round(time.Millisecond))
		if took := time.Since(began); took > 10*time.Second { // some tenths, without the race detector
			t.Errorf("%s: %v", name, took)
		}
		if len(r.body) > 2<<20 {
			t.Errorf("%s: the answer has %d bytes", name, len(r.body))
		}
	}
}

// A page of large messages ends early, and its cursor leads on: nothing is left out, nothing twice.
func TestN10APageIsBoundedByItsBytes(t *testing.T) {
	s := open(t)
	const rows = 60
	text := strings.Repeat("x", 200<<10)
	s.sql(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO outbox (recipient, type, payload) SELECT '701', 'Text', json_object('text', '%s') FROM n`, rows, text))
	seen, pages, after := map[int64]bool{}, 0, ""
	for {
		r := s.get("/messages?limit=500&after=" + after).want(http.StatusOK)
		if len(r.body) > 5<<20 {
			t.Fatalf("a page has %d bytes", len(r.body))
		}
		var list struct {
			Items []struct {
				MessageID int64 `json:"messageId"`
			} `json:"items"`
			Next string `json:"next"`
		}
		if err := json.Unmarshal(r.body, &list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Items {
			if seen[m.MessageID] {
				t.Errorf("message %d comes twice", m.MessageID)
			}
			seen[m.MessageID] = true
		}
		pages++
		if after = list.Next; after == "" {
			break
		}
	}
	if len(seen) != rows || pages < 3 {
		t.Errorf("%d messages on %d pages", len(seen), pages)
	}
}
