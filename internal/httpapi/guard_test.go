package httpapi_test

import (
	"net/http"
	"testing"

	"notifier/internal/httpapi"
)

func TestWithAKeyOnlyItsBearerIsServed(t *testing.T) {
	s := open(t, func(c *httpapi.Config) { c.Key = "s3cret" })
	for _, header := range []string{"X: y", "Authorization: s3cret", "Authorization: Basic s3cret", "Authorization: Bearer s3cre",
		"Authorization: Bearer s3cret2", "Authorization: Bearer ", "Authorization: Bearer"} {
		for _, path := range []string{"/orders", "/metrics", "/nowhere", "/sender"} {
			r := s.call(http.MethodGet, path, "", header).refused(http.StatusUnauthorized, "unauthorized", "")
			if r.header.Get("WWW-Authenticate") == "" {
				t.Error("no WWW-Authenticate")
			}
		}
	}
	for _, header := range []string{"Authorization: Bearer s3cret", "Authorization: bearer  s3cret"} {
		s.call(http.MethodGet, "/orders", "", header, "Origin: https://shop.example", "Host: shop.example").want(http.StatusOK)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		s.get(path).want(http.StatusOK)
	}
}

func TestWithoutAKeyOnlyThisMachineIsServed(t *testing.T) {
	s := open(t)
	for _, header := range []string{"Forwarded: for=1.2.3.4", "X-Forwarded: x", "X-Real-IP: 1.2.3.4", "Via: 1.1 proxy",
		"CF-Connecting-IP: 1.2.3.4", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: Cross-Site", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https", "Origin: null",
		"Origin: http://127.0.0.1:8080", "Host: shop.example", "Host: shop.example:8080", "Host: 192.168.1.5:8080", "Host: ", "Host: localhost.shop.example"} {
		s.call(http.MethodPost, "/orders", anOrder, header).refused(http.StatusForbidden, "forbidden", "")
		s.call(http.MethodGet, "/livez", "", header).want(http.StatusOK)
	}
	for _, site := range []string{"same-origin", "none"} {
		s.call(http.MethodGet, "/orders", "", "Sec-Fetch-Site: "+site).want(http.StatusOK)
	}
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1", "127.8.9.1:80", "[::1]:8080", "[::1]", "[::ffff:127.0.0.1]:1"} {
		s.call(http.MethodGet, "/orders", "", "Host: "+host).want(http.StatusOK)
	}
	if got := s.counts(); got != [3]int{} {
		t.Errorf("orders, messages, keys: %v", got)
	}
}

func TestTwoKeysAreGoodWhileTheyAreChanged(t *testing.T) {
	s := open(t, func(c *httpapi.Config) { c.Key = "old-one, new-one" })
	for key, status := range map[string]int{"old-one": http.StatusOK, "new-one": http.StatusOK,
		"old-one, new-one": http.StatusUnauthorized, "": http.StatusUnauthorized, ",": http.StatusUnauthorized} {
		s.call(http.MethodGet, "/orders", "", "Authorization: Bearer "+key).want(status)
	}
}
