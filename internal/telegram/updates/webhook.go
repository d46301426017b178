package updates

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"notifier/internal/secret"
	"notifier/internal/telegram"
	"notifier/internal/telegram/syntax"
)

const (
	// secretHeader carries the secret that was given to setWebhook
	// (https://core.telegram.org/bots/api#setwebhook).
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	maxUpdate    = 1 << 20
	// storeWithin is how long an update may wait for its turn to be stored. Telegram itself waits
	// longer, and an answer is better than none.
	storeWithin = 20 * time.Second
	// retryAfter tells Telegram when to send an update again that could not be stored; without it
	// the waits grow to more than a minute (on_update_error in telegram-bot-api/WebhookActor.cpp of
	// github.com/tdlib/telegram-bot-api).
	retryAfter = "5"
)

// WebhookOptions are what a Webhook needs.
type WebhookOptions struct {
	Client *telegram.Client
	Inbox  *Inbox
	// URL is the public https address that ends at the handler, and Secret what proves that a call
	// comes from Telegram.
	URL    string
	Secret secret.Value
	Log    *slog.Logger // nil: none
}

// Webhook is sent updates by Telegram. It is the http.Handler that its URL ends at.
type Webhook struct {
	WebhookOptions
	secret [sha256.Size]byte // hashes have one length: comparing them tells nothing of the secret's
	health health
	set    atomic.Bool
}

// NewWebhook checks the secret and returns a webhook that is not set yet.
func NewWebhook(o WebhookOptions) (*Webhook, error) {
	if !syntax.IsWebhookSecret(o.Secret) {
		return nil, errors.New("the webhook secret must be " + syntax.WebhookSecret)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Webhook{WebhookOptions: o, secret: sha256.Sum256([]byte(o.Secret.Reveal()))}, nil
}

// ServeHTTP takes one update. 200 says that it is stored with its effect, or was before.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "method_not_allowed", "updates come by POST")
		return
	}
	if !h.knows(r.Header.Values(secretHeader)) {
		refuse(w, http.StatusUnauthorized, "unauthorized", "the secret is missing or wrong")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdate))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, "body_too_large", "an update is at most 1 MiB long")
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, "request_timeout", "the body did not arrive in time")
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "body_incomplete", "the body ended early")
		return
	}
	h.take(w, r, body)
}

func (h *Webhook) knows(given []string) bool {
	if len(given) != 1 {
		return false
	}
	sum := sha256.Sum256([]byte(given[0]))
	return subtle.ConstantTimeCompare(sum[:], h.secret[:]) == 1
}

func (h *Webhook) take(w http.ResponseWriter, r *http.Request, body []byte) {
	ctx, cancel := detached(r.Context(), storeWithin)
	defer cancel()
	_, err := h.Inbox.receive(ctx, body)
	switch {
	case errors.Is(err, errNoID):
		// It can never be stored. An error would only bring it back, and hold up those behind it.
		h.Log.Error("the webhook was sent something that is no update", "bytes", len(body))
	case err != nil:
		h.Log.Error("an update cannot be stored", "err", err)
		w.Header().Set("Retry-After", retryAfter)
		refuse(w, http.StatusServiceUnavailable, "storage_unavailable", "the update could not be stored: send it again")
		return
	}
	w.WriteHeader(http.StatusOK)
}

// refuse answers as the rest of the API does (RFC 9457).
func refuse(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // whoever is gone needs no answer
		"title": http.StatusText(status), "status": status, "code": code, "detail": detail,
	})
}
