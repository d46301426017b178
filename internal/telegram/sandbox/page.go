package sandbox

import (
	"embed"
	"mime"
	"net/http"
	"path"
)

// pageFiles are the page at /. It loads nothing from elsewhere.
//
//go:embed page
var pageFiles embed.FS

// pageParts names what the page itself loads.
func pageParts() []string {
	var names []string
	entries, err := pageFiles.ReadDir("page")
	if err != nil {
		panic("sandbox: " + err.Error()) // the folder is built in
	}
	for _, entry := range entries {
		if entry.Name() != "index.html" {
			names = append(names, entry.Name())
		}
	}
	return names
}

// pageFile serves one file of the page.
func pageFile(name string) http.HandlerFunc {
	content, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic("sandbox: " + err.Error()) // the name is ours and built in
	}
	a := answer{status: http.StatusOK, contentType: mime.TypeByExtension(path.Ext(name)), body: content}
	return func(rw http.ResponseWriter, _ *http.Request) {
		header := rw.Header()
		header.Set("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "+
				"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-cache")
		a.write(rw)
	}
}
