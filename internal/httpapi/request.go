package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
)

const (
	maxBody  = 1 << 20
	jsonType = "application/json"
)

// request is what later steps need to know of a request besides its typed input.
type request struct {
	scope string // method and path: where an Idempotency-Key counts
	key   string // empty without one
	body  []byte
}

type requestKey struct{}

// requestOf is the request that ctx belongs to.
func requestOf(ctx context.Context) request {
	q, _ := ctx.Value(requestKey{}).(request)
	return q
}

// readRequest reads the body and the Idempotency-Key of a request that may change something. What it
// lets through is sound JSON, or nothing.
func readRequest(w http.ResponseWriter, r *http.Request) (*http.Request, *Failure) {
	body, f := readBody(w, r)
	if f != nil || r.Method != http.MethodPost {
		return r, f // what comes with a request that changes nothing means nothing
	}
	if f := checkEncoding(r.Header.Get("Content-Encoding")); f != nil {
		return r, f
	}
	if len(body) > 0 {
		if f := checkMediaType(r.Header.Get("Content-Type")); f != nil {
			return r, f
		}
		if f := checkJSON(body); f != nil {
			return r, f
		}
	}
	q := request{scope: r.Method + " " + r.URL.Path, body: body}
	if hasKeys(r.URL.Path) {
		if q.key, f = idempotencyKey(r.Header.Values("Idempotency-Key")); f != nil {
			return r, f
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q))
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", jsonType) // one spelling is enough for whoever reads on
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, nil
}

// readBody reads a body whole, within the deadline that the server gives it.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Failure) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, failure(http.StatusRequestEntityTooLarge, codeTooLarge, "the body is larger than 1 MiB")
	case errors.As(err, &network) && network.Timeout():
		return nil, failure(http.StatusRequestTimeout, codeTimeout, fmt.Sprintf("the body did not arrive within %v", bodyDeadline))
	}
	return nil, failure(http.StatusBadRequest, codeBodyIncomplete, "the body did not arrive whole")
}

func checkMediaType(header string) *Failure {
	kind, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	if err == nil && kind == jsonType && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return failure(http.StatusUnsupportedMediaType, codeMediaType,
		"send JSON in UTF-8, with the header Content-Type: "+jsonType)
}

// checkEncoding refuses a packed body in words: read as it is, it would be called broken JSON.
func checkEncoding(header string) *Failure {
	if header == "" || strings.EqualFold(header, "identity") {
		return nil
	}
	return failure(http.StatusUnsupportedMediaType, codeMediaType,
		"send the body as it is, without Content-Encoding: packed bodies are not taken").
		with("Accept-Encoding", "identity")
}

// hasKeys says whether POSTs to a path take an Idempotency-Key.
func hasKeys(path string) bool {
	for _, root := range []string{"/orders", "/messages"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}

// idempotencyKey reads the header: the key, quoted or bare.
func idempotencyKey(values []string) (string, *Failure) {
	const pointer = "/header/Idempotency-Key"
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", invalid(pointer, "is given more than once")
	}
	key := strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		inner, closed := strings.CutSuffix(key[1:], `"`)
		if !closed {
			return "", invalid(pointer, "begins with a quotation mark and does not end with one")
		}
		key = inner
	}
	if len(key) < 1 || len(key) > 255 {
		return "", invalid(pointer, "must have 1 to 255 characters")
	}
	for i := range len(key) {
		if key[i] < '!' || key[i] > '~' {
			return "", invalid(pointer, "must be visible ASCII characters without spaces")
		}
	}
	return key, nil
}
