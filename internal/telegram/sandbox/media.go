package sandbox

import (
	"fmt"
	"net/url"
	"strings"

	"notifier/internal/telegram/sandbox/markup"
)

// The largest files, in bytes: uploaded photos and documents.
const (
	maxPhoto    = 10 << 20
	maxDocument = 50 << 20
)

// sentFile describes a file a message carries; its content is not kept.
type sentFile struct {
	id   string // a file_id
	name string
	size int64
}

// photoSize is the Bot API's PhotoSize. The pixels are made up.
type photoSize struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	FileSize     int64  `json:"file_size,omitempty"`
}

// document is the Bot API's Document.
type document struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
}

func (f *sentFile) photoSizes() []photoSize {
	return []photoSize{{f.id, "unique-" + f.id, 800, 600, f.size}}
}

func (f *sentFile) document() *document {
	return &document{f.id, "unique-" + f.id, f.name, f.size}
}

func sendPhoto(c *call) (any, *apiError) {
	return c.sendFile(outgoing{kind: KindPhoto, what: "photos"}, maxPhoto)
}

func sendDocument(c *call) (any, *apiError) {
	return c.sendFile(outgoing{kind: KindDocument, what: "documents"}, maxDocument)
}

func (c *call) sendFile(out outgoing, largest int64) (any, *apiError) {
	file, err := c.file(string(out.kind), largest)
	if err != nil {
		return nil, err
	}
	out.text, out.entities = "caption", "caption_entities"
	out.file = file
	return c.deliver(out)
}

// file finds the file of a parameter: an upload under its name, one that it
// names by attach://, an earlier one by its file_id, or one that Telegram is to
// fetch from a URL (which the sandbox takes for granted).
func (c *call) file(name string, largest int64) (*sentFile, *apiError) {
	value := c.params.values[name]
	uploaded, has := c.params.files[name]
	if attached, named := strings.CutPrefix(value, "attach://"); named {
		uploaded, has = c.params.files[attached]
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case has && uploaded.size == 0:
		return nil, badRequest("file must be non-empty")
	case has && uploaded.size > largest:
		return nil, badRequest("file is too big")
	case has:
		return w.newFile(uploaded.name, uploaded.size), nil
	case value == "":
		return nil, badRequest("there is no %s in the request", name)
	case strings.HasPrefix(value, "http://"), strings.HasPrefix(value, "https://"):
		if _, err := markup.CheckLink(value); err != nil {
			return nil, badRequest("wrong HTTP URL specified")
		}
		return w.newFile(lastPathPart(value), 0), nil
	}
	if file, known := w.files[value]; known {
		return file, nil
	}
	return nil, badRequest("wrong file identifier/HTTP URL specified")
}

// newFile gives a file its id; w.mu is held.
func (w *world) newFile(name string, size int64) *sentFile {
	w.lastFile++
	file := &sentFile{id: fmt.Sprintf("sandbox-file-%d", w.lastFile), name: name, size: size}
	w.files[file.id] = file
	w.uploads.add(file, 300+len(name))
	return file
}

func lastPathPart(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
}
