package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"notifier/internal/config"
)

// guard decides who may ask at all.
type guard struct {
	keyed bool
	sums  [][sha256.Size]byte // of the keys: both sides of the comparison have one length
}

// newGuard takes one key, or several separated by commas, as while they are changed.
func newGuard(keys string) guard {
	g := guard{keyed: keys != ""}
	for key := range strings.SplitSeq(keys, ",") {
		if key = strings.TrimSpace(key); key != "" {
			g.sums = append(g.sums, sha256.Sum256([]byte(key)))
		}
	}
	return g
}

// knows compares with every key, whichever fits.
func (g guard) knows(given string) bool {
	sum, found := sha256.Sum256([]byte(given)), 0
	for _, key := range g.sums {
		found |= subtle.ConstantTimeCompare(sum[:], key[:])
	}
	return found == 1
}

// exempt are paths without a key: they tell nothing but health, or have guards of their own.
func exempt(path string) bool {
	switch path {
	case "/", "/livez", "/readyz", "/docs", "/openapi.json", config.WebhookPath, "/admin":
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
	if strings.EqualFold(scheme, "Bearer") && g.knows(strings.TrimSpace(given)) {
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
	for name, values := range r.Header {
		if detour(name, values) {
			return failure(http.StatusForbidden, codeForbidden, "without an API key, requests with a header "+name+" are refused"+help)
		}
	}
	if !loopback(r.Host) {
		return failure(http.StatusForbidden, codeForbidden, "without an API key, only requests to localhost are served"+help)
	}
	return nil
}

// detour says whether a header is one that a proxy adds, or a browser for a page of somebody else.
func detour(name string, values []string) bool {
	switch name {
	case "Forwarded", "X-Real-Ip", "Via", "Cf-Connecting-Ip", "Origin":
		return true
	case "Sec-Fetch-Site":
		return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(strings.TrimSpace(v), "cross-site") })
	}
	return strings.HasPrefix(name, "X-Forwarded")
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
