package sandbox

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// pictureAge is how old the picture that all who watch the page share may be.
// Without such a bound, many watchers of a busy sandbox would keep it from its
// work.
const pictureAge = 200 * time.Millisecond

// gallery holds the latest picture of the page.
type gallery struct {
	watchers atomic.Int64 // how many wait for a picture

	mu      sync.Mutex // held while a picture is made, too, so that one is enough
	version string
	body    []byte
	made    time.Time
}

// picture gives the overview as JSON and the version it shows: the one at hand,
// unless that is too old or the version that the watcher has.
func (s *Sandbox) picture(known string) (body []byte, version string) {
	g := &s.gallery
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if fresh := !now.Before(g.made) && now.Sub(g.made) < pictureAge; fresh && g.version != known && s.sameWorld(g.version) {
		return g.body, g.version
	}
	w := s.current()
	w.mu.Lock()
	view := w.overview()
	view.Chats = w.latestChats()
	w.mu.Unlock()
	g.version, g.body, g.made = view.Version, encode(view), time.Now()
	return g.body, g.version
}

// sameWorld tells whether a version is of the world that is there now.
func (s *Sandbox) sameWorld(version string) bool {
	name := s.current().name()
	return len(version) > len(name) && version[:len(name)] == name
}

// fewWatchers is how many may be answered at the same moment.
const fewWatchers = 4

// untilPicture is how long it takes until a newer picture than the latest may be
// made. Of many watchers each waits a little longer, so that they do not all come
// at once.
func (s *Sandbox) untilPicture() time.Duration {
	s.gallery.mu.Lock()
	defer s.gallery.mu.Unlock()
	wait := min(time.Until(s.gallery.made.Add(pictureAge)), pictureAge)
	if s.gallery.watchers.Load() > fewWatchers {
		wait = max(wait, 0) + rand.N(pictureAge)
	}
	return wait
}

func showBody(rw http.ResponseWriter, body []byte) {
	answer{status: http.StatusOK, contentType: "application/json", body: body}.write(rw)
}
