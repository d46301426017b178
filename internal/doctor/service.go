package doctor

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// checkService looks for who answers where the service should.
func (e *examination) checkService(ctx context.Context) {
	const check = "service"
	if strings.HasSuffix(e.settings.Listen, ":0") {
		e.well(check, "it listens at a port that the system chooses, so it is not asked")
		return
	}
	address := ServiceURL(e.settings.Listen)
	status, body, err := Get(ctx, address+"/livez")
	switch {
	case err != nil:
		e.well(check, "nobody listens at %s: it is not running", e.settings.Listen)
	case status == http.StatusOK && strings.TrimSpace(string(body)) == `{"status":"ok"}`:
		e.well(check, "it answers at %s", address)
	default:
		e.bad(check, "ss -ltnp", "another program listens at %s: end it, or choose another NOTIFIER_LISTEN", e.settings.Listen)
	}
}

// ServiceURL is where a service that listens at address can be reached from this machine.
func ServiceURL(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil { // settings are checked
		return "http://" + address
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// direct goes through no proxy: what it asks is on this machine, or near.
var direct = &http.Client{
	Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Get gets a small answer of a service, without any proxy.
func Get(ctx context.Context, url string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := direct.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	body, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, body, err
}
