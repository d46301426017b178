package httpapi

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// checkURL refuses what no path and no query of ours can hold.
func checkURL(r *http.Request) *Failure {
	if f := checkWord("/path", r.URL.Path); f != nil {
		return f
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return failure(http.StatusBadRequest, codeInvalidURL, "the query is not well-formed: "+err.Error())
	}
	for name, values := range query {
		if f := checkWord("/query", name); f != nil {
			return f
		}
		pointer := "/query/" + escapePointer(name)
		if len(values) > 1 {
			return invalid(pointer, "is given more than once")
		}
		if f := checkWord(pointer, values[0]); f != nil {
			return f
		}
	}
	return nil
}

func checkWord(pointer, s string) *Failure {
	if !utf8.ValidString(s) {
		return failure(http.StatusBadRequest, codeInvalidUnicode, describe(pointer, "is not valid UTF-8"))
	}
	if strings.ContainsRune(s, 0) {
		return invalid(pointer, "has a NUL character")
	}
	return nil
}

// noRoute answers for the mux when it has no route: with 404, or 405 and what is allowed.
func (a *API) noRoute(w http.ResponseWriter, r *http.Request) *Failure {
	h, pattern := a.mux.Handler(r)
	if pattern != "" && path.Clean(r.URL.Path) == r.URL.Path {
		return nil
	}
	if pattern == "" {
		p := &probe{header: http.Header{}}
		h.ServeHTTP(p, r)
		if p.status == http.StatusMethodNotAllowed {
			allowed := p.header.Get("Allow")
			return failure(http.StatusMethodNotAllowed, codeMethod, r.URL.Path+" allows "+allowed).with("Allow", allowed)
		}
	}
	return failure(http.StatusNotFound, codeNotFound, "there is nothing at "+r.URL.Path)
}

// probe takes the mux's own answer, which is text, for its status and headers.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }
