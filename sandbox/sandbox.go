// Package sandbox gives a Go test a Telegram Bot API server of its own: New
// starts one, which ends with the test. It owns nothing else; what the server
// is and does is told in docs/sandbox.md.
package sandbox

import (
	"net/http/httptest"
	"testing"

	"notifier/internal/telegram/sandbox"
)

// The types of the server's methods and options.
type (
	// Options are what cannot change while a server runs.
	Options = sandbox.Options
	// Limits say how much a bot may send before it is answered 429.
	Limits = sandbox.Limits
	// Fault makes some calls go wrong.
	Fault = sandbox.Fault
	// Respond is what happens to a call that a fault strikes.
	Respond = sandbox.Respond
	// Message is one message that was truly delivered to a chat.
	Message = sandbox.Message
	// Call is one Bot API call with its answer.
	Call = sandbox.Call
	// Stats are counters since the start or the latest Reset.
	Stats = sandbox.Stats
	// Profile is who the customer of a chat is.
	Profile = sandbox.Profile
)

// The two ways in which a fault loses a connection.
const (
	DropBefore = sandbox.DropBefore
	DropAfter  = sandbox.DropAfter
)

// Server is a running server. Its methods set limits and faults, act as the
// customers and tell what was delivered.
type Server struct {
	*sandbox.Sandbox

	// URL is the server's address, to be used in place of
	// https://api.telegram.org.
	URL string
}

// New starts a server on a loopback address with the usual limits.
func New(t testing.TB) *Server {
	t.Helper()
	return Start(t, Options{})
}

// Start is New with options.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	box := sandbox.New(options)
	server := httptest.NewServer(box)
	t.Cleanup(func() { box.Close(); server.Close() })
	return &Server{box, server.URL}
}
