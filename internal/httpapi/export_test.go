package httpapi

import "time"

// HurryReadiness lets tests see a stuck database without waiting for long, and every change at once.
func (a *API) HurryReadiness(patience time.Duration) { a.ready.patience, a.ready.fresh = patience, 0 }
