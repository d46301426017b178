package httpapi

import "time"

// HurryReadiness lets tests see a stuck database without waiting for long, and every change at once.
func (a *API) HurryReadiness(patience time.Duration) { a.ready.patience, a.ready.fresh = patience, 0 }

// HurryWrites lets tests see that a request does not get its turn to write.
func (a *API) HurryWrites(patience time.Duration) { a.patience = patience }
