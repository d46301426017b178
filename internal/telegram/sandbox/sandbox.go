package sandbox

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
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

	// Seed makes update ids and the dice of fault probabilities repeatable. Zero
	// picks a random one.
	Seed uint64
}

// Sandbox is the fake server. It is an http.Handler and safe for concurrent
// use. It starts no goroutine of its own, except those of Transport and of a
// webhook that a bot has set; none is left after Close.
type Sandbox struct {
	options Options
	control http.Handler
	closing chan struct{}
	close   sync.Once

	mu    sync.Mutex // guards the fields below
	world *world
	pipes *pipeServer
}

// New returns a running sandbox with the limits of DefaultLimits.
func New(options Options) *Sandbox {
	if options.Seed == 0 {
		options.Seed = rand.Uint64()
	}
	s := &Sandbox{options: options, closing: make(chan struct{})}
	s.world = newWorld(options)
	s.control = s.controlRoutes()
	return s
}

// Close ends every call that hangs or is held (their connections are aborted)
// and every long poll. Calls made afterwards are aborted as well.
func (s *Sandbox) Close() {
	s.close.Do(func() {
		close(s.closing)
		s.mu.Lock()
		w, pipes := s.world, s.pipes
		s.mu.Unlock()
		w.end()
		if pipes != nil {
			pipes.close()
		}
	})
}

// Reset starts afresh: chats, messages, calls, faults, webhooks and limits are
// as New made them. Calls that are open are ended. Message and update ids go
// on, because a client that remembers old ones must not mistake new ones.
func (s *Sandbox) Reset() {
	s.mu.Lock()
	old := s.world
	old.mu.Lock()
	s.world = old.successor(s.options)
	old.mu.Unlock()
	s.mu.Unlock()
	old.end()
	select {
	case <-s.closing:
		s.current().end()
	default:
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
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/bot"):
		s.serveBotAPI(rw, r)
	case path == "/" || path == "/sandbox" || strings.HasPrefix(path, "/sandbox/"):
		s.control.ServeHTTP(rw, r)
	default:
		errNotFound.answer().write(rw)
	}
}

// sleepUntil waits for an instant. It is false when the world ended before. A
// client that has gone away does not shorten it: a server that has read a
// request goes on with it.
func (w *world) sleepUntil(at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return w.alive()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.done:
		return false
	}
}
