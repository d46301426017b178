package telegram

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	// We let go of an idle connection before the other side or a firewall drops it unseen: a
	// message written into a dropped one ends as uncertain.
	idleTimeout = 30 * time.Second
	// Connecting has its own bounds below the call's timeout, so that a black hole is told apart
	// from a slow answer: here nothing has left.
	dialTimeout = 10 * time.Second
	tlsTimeout  = 10 * time.Second
	// Enough kept connections for every call in flight at the default concurrency.
	maxIdle = 64
)

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport is the way to the Bot API. It speaks HTTP/1.1 only: there the transport sends a
// request a second time only when the first connection took no byte of it, while an HTTP/2
// connection also repeats on some errors of the other side, and its loss would leave every call
// in flight uncertain at once. A proxy from the environment is used.
func newTransport(dial dialFunc) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            countingDial(dial),
		Protocols:              protocols,
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdle,
		MaxResponseHeaderBytes: maxBody,
		DisableCompression:     true,
	}
}

func defaultDial() dialFunc {
	return (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext
}

// newHTTPRecorder builds the client over custom, or over a transport of our own when that is nil.
func newHTTPRecorder(custom http.RoundTripper) *httpRecorder {
	transport := custom
	if custom == nil {
		transport = newTransport(defaultDial())
	}
	return &httpRecorder{
		client: &http.Client{
			Transport: transport,
			// The token is in the address: it is never carried to another one.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		traceIsSure: custom == nil,
	}
}

// failureWords says what went wrong on the wire in fixed words. The error's own text is not used,
// as it may hold the address and with it the token.
func failureWords(err error) string {
	var (
		dns       *net.DNSError
		invalid   x509.CertificateInvalidError
		hostname  x509.HostnameError
		authority x509.UnknownAuthorityError
		roots     x509.SystemRootsError
		record    tls.RecordHeaderError
		errno     syscall.Errno
		network   net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timed out"
	case errors.As(err, &dns):
		return "name not found"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "TLS failed: certificate expired or not yet valid (is the clock right?)"
	case errors.As(err, &hostname):
		return "TLS failed: the certificate is for another name (does TELEGRAM_API_URL have the right host?)"
	case errors.As(err, &authority), errors.As(err, &roots):
		return "TLS failed: the certificate is signed by nobody this machine trusts " +
			"(install ca-certificates; behind a proxy that opens TLS, add its CA)"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "TLS failed: the other side speaks no TLS (should TELEGRAM_API_URL begin with http://?)"
	case isTLS(err):
		return "TLS failed"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "connection closed"
	}
	return "network error"
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		alert        tls.AlertError
	)
	return errors.As(err, &verification) || errors.As(err, &alert)
}
