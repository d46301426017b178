package sandbox

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A browser on the developer's machine can be made to call a server that listens
// on its loopback address, by any web page. So there, requests that a page of
// another site made, and those that reached it by a foreign name (DNS
// rebinding), are refused, calls of the Bot API included.

// stranger tells why a request is refused; empty means that it is not.
func stranger(r *http.Request) string {
	if !onLoopback(r) {
		return ""
	}
	if !isLocalName(r.Host) {
		return "the Host header names another machine"
	}
	if origin := r.Header.Get("Origin"); origin != "" && !isLocalOrigin(origin) {
		return "the request comes from a page of another site"
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && !opensThePage(r) {
		return "the request comes from a page of another site"
	}
	return ""
}

// onLoopback tells whether a request came to a loopback address.
func onLoopback(r *http.Request) bool {
	address, known := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return known && address.IP.IsLoopback()
}

// isLocalName tells whether a host, with or without a port, is this machine.
func isLocalName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true // RFC 6761 keeps these on the machine
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func isLocalOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && isLocalName(u.Host)
}

// opensThePage tells whether a person follows a link to the page, which does
// nothing by itself and lets nobody frame it.
func opensThePage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}
