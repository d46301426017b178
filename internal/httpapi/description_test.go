package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"notifier/internal/httpapi"
)

func TestTheAPIDescribesItself(t *testing.T) {
	s := open(t)
	r := s.get("/openapi.json").want(http.StatusOK)
	if got := r.field("openapi"); got != "3.1.0" {
		t.Errorf("openapi %v", got)
	}
	for path, method := range map[string]string{
		"/orders": "post", "/orders/{orderId}/status": "post", "/messages": "get", "/messages/retry": "post",
		"/messages/{messageId}/send-now": "post", "/chats/revive": "post", "/customers/{customerId}/link": "post",
		"/sender/release": "post", "/readyz": "get",
	} {
		if op, ok := r.field("paths", path, method).(map[string]any); !ok || op["summary"] == "" {
			t.Errorf("%s %s is not described", method, path)
		}
	}
	keyed := open(t, func(c *httpapi.Config) { c.Key = "s3cret" })
	for _, path := range []string{"/openapi.json", "/docs"} {
		keyed.get(path).want(http.StatusOK) // it tells nothing of the shop
	}
}

var elsewhere = regexp.MustCompile(`(?i)(src|href|url|import|action)\s*[=(:]\s*["']?\s*(https?:|//|data:)`)

func TestTheDocsPageLoadsNothing(t *testing.T) {
	r := open(t).get("/docs").want(http.StatusOK)
	page := string(r.body)
	if found := elsewhere.FindString(page); found != "" {
		t.Errorf("the page loads %s", found)
	}
	for _, tag := range []string{"<script", "<link", "<img", "<iframe", "@import"} {
		if strings.Contains(page, tag) {
			t.Errorf("the page has a %s", tag)
		}
	}
	if csp := r.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
		t.Errorf("policy %q", csp)
	}
	for _, words := range []string{"prefers-color-scheme: dark", "/orders/{orderId}/status", "totalCents", "dryRun", "Idempotency-Key", "unitPriceCents"} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not tell of %s", words)
		}
	}
}
