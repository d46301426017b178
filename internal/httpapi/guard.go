package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"notifier/internal/config"
)

// guard decides who may ask at all.
type guard struct {
	keyed bool
	sum   [sha256.Size]byte // of the key: both sides of the comparison have one length
}

func newGuard(key string) guard { return guard{keyed: key != "", sum: sha256.Sum256([]byte(key))} }

// exempt are paths without a key: they tell nothing but health, or have guards of their own.
func exempt(path string) bool {
	switch path {
	case "/livez", "/readyz", config.WebhookPath, "/admin":
		return true
	}
	return strings.HasPrefix(path, "/admin/")
}

// refuse says why a request is not served, or nil.
func (g guard) refuse(r *http.Request) *Failure {
	switch {
	case exempt(r.URL.Path):
		return nil
	case g.keyed:
		return g.refuseStranger(r)
	default:
		return refuseDetour(r)
	}
}

func (g guard) refuseStranger(r *http.Request) *Failure {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1 {
		return nil
	}
	return failure(http.StatusUnauthorized, codeUnauthorized,
		"send the API key as `Authorization: Bearer …`; it is the NOTIFIER_API_KEY of the service").
		with("WWW-Authenticate", `Bearer realm="notifier"`)
}

// refuseDetour refuses, while there is no key, whatever did not come straight from a program on
// this machine: a proxy may let in the world, and a browser acts for the pages it shows.
func refuseDetour(r *http.Request) *Failure {
	const help = ": set NOTIFIER_API_KEY to serve such requests"
	for name := range r.Header {
		if name == "Forwarded" || name == "Origin" || strings.HasPrefix(name, "X-Forwarded-") {
			return failure(http.StatusForbidden, codeForbidden, "without an API key, requests with a header "+name+" are refused"+help)
		}
	}
	if !loopback(r.Host) {
		return failure(http.StatusForbidden, codeForbidden, "without an API key, only requests to localhost are served"+help)
	}
	return nil
}

// loopback says whether a Host header names this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
