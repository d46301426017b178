package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Failure is the body of every error answer (RFC 9457).
type Failure struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code is for programs: one of the words of this package's documentation.
	Code string `json:"code"`
	// Detail is for people, and says what they can do.
	Detail string       `json:"detail"`
	Errors []FieldError `json:"errors,omitempty"`
	// OrderID names the order that has the number already.
	OrderID int64 `json:"orderId,omitempty"`
	// ErrorID is the id under which an unexpected error is in the log.
	ErrorID string `json:"errorId,omitempty"`

	header http.Header
}

// FieldError says what is wrong with one field.
type FieldError struct {
	Detail string `json:"detail"`
	// Pointer is a JSON pointer into the body, or /path/…, /query/… or /header/… for what came there.
	Pointer string `json:"pointer"`
}

// Codes of failures. Those of conflicts about messages are in the package outbox.
const (
	codeInvalidJSON     = "invalid_json"           // 400
	codeInvalidUnicode  = "invalid_unicode"        // 400
	codeInvalidURL      = "invalid_url"            // 400
	codeBodyIncomplete  = "body_incomplete"        // 400
	codeBodyRequired    = "body_required"          // 400
	codeUnauthorized    = "unauthorized"           // 401
	codeForbidden       = "forbidden"              // 403
	codeNotFound        = "not_found"              // 404
	codeMethod          = "method_not_allowed"     // 405
	codeTimeout         = "request_timeout"        // 408
	codeStatusConflict  = "status_conflict"        // 409
	codeOrderExists     = "order_exists"           // 409
	codeTooLarge        = "body_too_large"         // 413
	codeMediaType       = "unsupported_media_type" // 415
	codeInvalid         = "invalid_request"        // 422
	codeInvalidText     = "invalid_text"           // 422
	codeKeyReused       = "idempotency_key_reused" // 422
	codeInternal        = "internal_error"         // 500
	codeBotUnknown      = "bot_name_unknown"       // 503
	codeStorage         = "storage_unavailable"    // 503
	storageRetrySeconds = 5
)

func failure(status int, code, detail string, errors ...FieldError) *Failure {
	return &Failure{Title: http.StatusText(status), Status: status, Code: code, Detail: detail, Errors: errors}
}

// invalid refuses one field.
func invalid(pointer, detail string) *Failure {
	return failure(http.StatusUnprocessableEntity, codeInvalid, describe(pointer, detail), FieldError{detail, pointer})
}

// describe makes the detail of a failure readable without its errors.
func describe(pointer, detail string) string {
	if pointer == "" {
		return detail
	}
	return pointer + ": " + detail
}

func (f *Failure) with(header, value string) *Failure {
	if f.header == nil {
		f.header = http.Header{}
	}
	f.header.Set(header, value)
	return f
}

func (f *Failure) retryAfter(d time.Duration) *Failure {
	return f.with("Retry-After", strconv.Itoa(int(d.Seconds())))
}

// Error implements error.
func (f *Failure) Error() string { return f.Detail }

// GetStatus returns the status. Like the next two methods it lets huma write the failure as it is.
func (f *Failure) GetStatus() int { return f.Status }

// GetHeaders returns the headers that belong to the failure.
func (f *Failure) GetHeaders() http.Header { return f.header }

// ContentType returns the media type of RFC 9457.
func (f *Failure) ContentType(string) string { return "application/problem+json" }

// write answers a request that does not get as far as huma.
func (f *Failure) write(w http.ResponseWriter) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", f.ContentType(""))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(f) // the client is gone: nobody is left to be told
}
