package sandbox

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// Options are what cannot change while a Sandbox runs.
type Options struct {
	// StrictChats makes every chat unknown (400 chat not found) until its
	// customer has pressed Start or written, as at Telegram. Otherwise a chat
	// that nobody has touched is open.
	StrictChats bool

	// StrictPenalty makes a call that comes in spite of an announced wait double
	// what is left of that wait, up to an hour. Telegram's own penalties are
	// unpublished; off, such a call is only counted.
	StrictPenalty bool

	// FindEntities marks what Telegram finds in a text by itself: mentions,
	// hashtags, cashtags, commands, links, mail addresses, phone numbers and
	// numbers of bank cards. At Telegram it is always on.
	FindEntities bool

	// WebhookTransport carries updates to the webhook that a bot has set. Nil
	// means TCP connections that are closed after each update.
	WebhookTransport http.RoundTripper

	// Memory is about how many bytes the sandbox may take; zero means 256 MiB. When
	// it is full, the oldest messages, calls, updates, chats and so on are
	// forgotten. From 16 MiB.
	Memory int64

	// Seed makes update ids and the dice of fault probabilities repeatable. Zero
	// picks a random one.
	Seed uint64
}

// Sandbox is the fake server. It is an http.Handler and safe for concurrent
// use. It starts no goroutine of its own, except those of Transport and of a
// webhook that a bot has set; none is left after Close.
type Sandbox struct {
	control http.Handler
	workers sync.WaitGroup
	gallery gallery

	mu     sync.Mutex // guards the fields below
	closed bool
	world  *world
	pipes  *pipeServer
}

// New returns a running sandbox with the limits of DefaultLimits.
func New(options Options) *Sandbox {
	if options.Memory == 0 {
		options.Memory = defaultMemory
	}
	if options.Seed == 0 {
		options.Seed = rand.Uint64()
	}
	s := &Sandbox{}
	s.world = newWorld(options, &s.workers)
	s.control = s.controlRoutes()
	return s
}

// Close ends every call that hangs or is held (their connections are aborted),
// every long poll and every webhook, and waits for the goroutines of the
// sandbox. Calls made afterwards are aborted.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.closed = true
	w, pipes := s.world, s.pipes
	s.mu.Unlock()
	w.end()
	if pipes != nil {
		pipes.close()
	}
	s.workers.Wait()
}

// Reset starts afresh: chats, messages, calls, faults, webhooks and limits are
// as New made them. Calls that are open are ended. Only message and update ids
// go on.
func (s *Sandbox) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.world
	s.world = old.successor()
	old.end()
	if s.closed {
		s.world.end()
	}
}

// current is the world of the calls that begin now.
func (s *Sandbox) current() *world {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world
}

// ServeHTTP answers Bot API calls, /sandbox requests and the start page.
func (s *Sandbox) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if why := stranger(r); why != "" {
		refuse(rw, http.StatusForbidden, errors.New(why))
		return
	}
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/bot"):
		s.serveBotAPI(rw, r)
	case strings.HasPrefix(path, "/file/"):
		s.serveFile(rw, r)
	case path == "/" || path == "/sandbox" || strings.HasPrefix(path, "/sandbox/"):
		s.control.ServeHTTP(rw, r)
	default:
		errNotFound.answer().write(rw)
	}
}
