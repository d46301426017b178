package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"notifier/internal/telegram/sandbox/markup"
)

// The largest files, in bytes.
const (
	maxPhoto    = 10 << 20
	maxDocument = 50 << 20
)

// mediaKind is a kind of message that carries a file.
type mediaKind struct {
	what      string // for "not enough rights to send … to the chat"
	noun      string // for "there is no … in the request"
	largest   int64
	noCaption bool
	folder    string // of its path for a download
	extension string // of a file without a name
	mime      string // of a file without a known one
	// numbers and texts are the parameters that the message repeats.
	numbers, texts []string
	named          bool // it shows the file's name
}

var mediaKinds = map[MessageKind]mediaKind{
	KindPhoto: {what: "photos", largest: maxPhoto, folder: "photos", extension: ".jpg", mime: "image/jpeg"},
	KindDocument: {what: "documents", largest: maxDocument, folder: "documents", extension: ".bin",
		mime: "application/octet-stream", named: true},
	KindVideo: {what: "videos", largest: maxDocument, folder: "videos", extension: ".mp4", mime: "video/mp4",
		numbers: []string{"duration", "width", "height"}, named: true},
	KindAnimation: {what: "animations", largest: maxDocument, folder: "animations", extension: ".mp4", mime: "video/mp4",
		numbers: []string{"duration", "width", "height"}, named: true},
	KindAudio: {what: "music", largest: maxDocument, folder: "music", extension: ".mp3", mime: "audio/mpeg",
		numbers: []string{"duration"}, texts: []string{"performer", "title"}, named: true},
	KindVoice: {what: "voice notes", largest: maxDocument, folder: "voice", extension: ".oga", mime: "audio/ogg",
		numbers: []string{"duration"}},
	KindVideoNote: {what: "video notes", noun: "video note", largest: maxDocument, noCaption: true,
		folder: "video_notes", extension: ".mp4", mime: "video/mp4", numbers: []string{"duration", "length"}},
	KindSticker: {what: "stickers", largest: maxDocument, noCaption: true, folder: "stickers", extension: ".webp",
		mime: "image/webp", texts: []string{"emoji"}},
}

// photoSize is the Bot API's PhotoSize.
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
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
}

// photoSizes are a photo's sizes; here there is one, as it was sent.
func (f *sentFile) photoSizes() []photoSize {
	return []photoSize{{f.id, f.uniqueID(), cmp.Or(f.width, 800), cmp.Or(f.height, 600), f.size}}
}

func (f *sentFile) document() *document {
	return &document{f.id, f.uniqueID(), f.name, f.mime, f.size}
}

// media is the Bot API's object of a file of another kind, with what a bot said
// about it.
func (f *sentFile) media(kind MessageKind, said params) json.RawMessage {
	k := mediaKinds[kind]
	object := map[string]any{"file_id": f.id, "file_unique_id": f.uniqueID(), "file_size": f.size}
	for _, name := range k.numbers {
		object[name] = max(0, said.integer(name, 0))
	}
	for _, name := range k.texts {
		if text := said.values[name]; text != "" {
			object[name] = text
		}
	}
	if kind != KindVideoNote && kind != KindSticker {
		object["mime_type"] = f.mime
	}
	if k.named && f.name != "" {
		object["file_name"] = f.name
	}
	if kind == KindSticker {
		object["type"], object["is_animated"], object["is_video"] = "regular", false, false
		object["width"], object["height"] = 512, 512
	}
	return encode(object)
}

// sendFile makes the method that sends a kind of file.
func sendFile(kind MessageKind) func(*call) (any, *apiError) {
	return func(c *call) (any, *apiError) {
		file, err := c.file(kind, string(kind), c.params.values[string(kind)])
		if err != nil {
			return nil, err
		}
		return c.deliver(outgoing{kind: kind, what: mediaKinds[kind].what, text: captionOf(kind), entities: "caption_entities",
			file: file, said: c.params})
	}
}

// captionOf is the parameter with the caption of a kind of file, empty if that
// has none.
func captionOf(kind MessageKind) string {
	if mediaKinds[kind].noCaption {
		return ""
	}
	return "caption"
}

// file finds the file of a parameter: an upload under its name, one that it
// names by attach://, an earlier one by its file_id, or one that Telegram is to
// fetch from a URL (which the sandbox takes for granted).
func (c *call) file(kind MessageKind, name, value string) (*sentFile, *apiError) {
	uploaded, has := c.params.files[name]
	if attached, named := strings.CutPrefix(value, "attach://"); named {
		uploaded, has = c.params.files[attached]
	}
	k := mediaKinds[kind]
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case has && uploaded.size == 0:
		return nil, badRequest("file must be non-empty")
	case has && uploaded.size > k.largest:
		return nil, badRequest("file is too big")
	case has:
		return w.newFile(kind, uploaded), nil
	case value == "":
		return nil, badRequest("there is no %s in the request", cmp.Or(k.noun, string(kind)))
	case strings.HasPrefix(value, "http://"), strings.HasPrefix(value, "https://"):
		if _, err := markup.CheckLink(value); err != nil {
			return nil, badRequest("wrong HTTP URL specified")
		}
		return w.newFile(kind, upload{name: lastPathPart(value)}), nil
	}
	if file, known := w.files[value]; known {
		return file, nil
	}
	return nil, badRequest("wrong file identifier/HTTP URL specified")
}

// newFile gives a file its id and path; w.mu is held.
func (w *world) newFile(kind MessageKind, u upload) *sentFile {
	w.lastFile++
	k := mediaKinds[kind]
	file := &sentFile{
		id:   fmt.Sprintf("sandbox-file-%d", w.lastFile),
		name: u.name,
		size: u.size,
		mime: mimeOf(u.name, k.mime),
		path: fmt.Sprintf("%s/file_%d%s", k.folder, w.lastFile, cmp.Or(path.Ext(u.name), k.extension)),
	}
	if len(u.content) > 0 && len(u.content) <= w.budget.files/2 { // one file is not to push out all others
		file.content = u.content
		file.width, file.height = pixels(u.content)
	}
	w.files[file.id] = file
	w.uploads.add(file, 500+len(file.content))
	return file
}

func lastPathPart(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
}
