package sandbox

import (
	"bytes"
	"cmp"
	"image"
	_ "image/gif"  // so that pictures can be measured
	_ "image/jpeg" // the same
	_ "image/png"  // the same
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
)

// maxDownload is the largest file that getFile lets a bot fetch, in bytes.
const maxDownload = 20 << 20

// sentFile is a file that a message carries.
type sentFile struct {
	id            string // a file_id
	name          string
	size          int64
	mime          string
	path          string // of a download
	width, height int    // of a picture, if known
	content       []byte // nil if it was not uploaded here, or is too big to keep
}

func (f *sentFile) uniqueID() string { return "unique-" + f.id }

// mimeOf is the type of a file by its name.
func mimeOf(name, otherwise string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	return cmp.Or(kind, otherwise)
}

// pixels are the width and height of a picture, zero if it is none.
func pixels(content []byte) (width, height int) {
	config, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return 0, 0
	}
	return config.Width, config.Height
}

// fileObject is the Bot API's File.
type fileObject struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileSize     int64  `json:"file_size,omitempty"`
	FilePath     string `json:"file_path,omitempty"`
}

// getFile gives the path to fetch a file from.
func getFile(c *call) (any, *apiError) {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	id := c.params.values["file_id"]
	if id == "" {
		return nil, badRequest("file_id not specified")
	}
	file, known := w.files[id]
	switch {
	case !known:
		return nil, badRequest("invalid file_id")
	case file.size > maxDownload:
		return nil, badRequest("file is too big")
	case file.content == nil:
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	}
	return fileObject{file.id, file.uniqueID(), file.size, file.path}, nil
}

// filePath is where files are fetched.
var filePath = regexp.MustCompile(`^/file/bot[0-9]{1,18}:[A-Za-z0-9_-]+/(?:test/)?(.+)$`)

// serveFile lets a bot fetch a file by the path that getFile gave it.
func (s *Sandbox) serveFile(rw http.ResponseWriter, r *http.Request) {
	match := filePath.FindStringSubmatch(r.URL.Path)
	if match == nil {
		errNotFound.answer().write(rw)
		return
	}
	file := s.findFile(func(f *sentFile) bool { return f.path == match[1] })
	if file == nil || file.content == nil {
		errNotFound.answer().write(rw)
		return
	}
	answer{status: http.StatusOK, contentType: "application/octet-stream", body: file.content}.write(rw)
}

func (s *Sandbox) findFile(matches func(*sentFile) bool) *sentFile {
	w := s.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if matches(f) {
			return f
		}
	}
	return nil
}

// shownTypes are the types of files that the page shows, in a form that can do
// nothing there.
var shownTypes = regexp.MustCompile(`^(image/(jpeg|png|gif|webp)|video/mp4|audio/(mpeg|ogg))$`)

// showFile gives the page the picture, film or sound of a message.
func (s *Sandbox) showFile(rw http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	w := s.current()
	w.mu.Lock()
	file := w.files[id]
	w.mu.Unlock()
	if file == nil || file.content == nil || !shownTypes.MatchString(file.mime) {
		errNotFound.answer().write(rw)
		return
	}
	header := rw.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	answer{status: http.StatusOK, contentType: file.mime, body: file.content}.write(rw)
}
