package httpapi

import (
	"log/slog"
	"net/http"
	"time"
)

// NewServer returns a server with limits for clients that are slow, large or idle. A body has a
// deadline of its own; the time to write covers a request that waits its turn at a locked database.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
