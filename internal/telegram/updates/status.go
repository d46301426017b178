package updates

import (
	"sync"
	"time"
)

// quietFor is how long no poll may succeed before we say that nothing is received.
const quietFor = time.Minute

// Words for what a Status says; they are codes for programs.
const (
	Receiving    = "receiving"
	NotReceiving = "not_receiving"
	Refused      = "token_rejected"
)

// Status says whether updates come in.
type Status struct {
	Code   string    // Receiving, NotReceiving or Refused
	Since  time.Time // when updates were last asked for with success; else when that began
	Detail string    // what stands in the way, in words; may be there while Code is still Receiving
}

// health keeps the Status of whoever takes updates in.
type health struct {
	mu      sync.Mutex
	good    time.Time
	began   time.Time
	refused bool
	detail  string
}

func (h *health) begin(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began = now
}

func (h *health) succeeded(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.good, h.refused, h.detail = now, false, ""
}

// failed notes what stands in the way; refused says that Telegram does not take the token.
func (h *health) failed(detail string, refused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused, h.detail = refused, detail
}

func (h *health) status(now time.Time) Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := Status{Code: Receiving, Since: h.good, Detail: h.detail}
	if s.Since.IsZero() {
		s.Since = h.began
	}
	switch {
	case h.refused:
		s.Code = Refused
	case !s.Since.IsZero() && now.Sub(s.Since) > quietFor:
		s.Code = NotReceiving
		if s.Detail == "" {
			s.Detail = "Telegram does not answer"
		}
	}
	return s
}
