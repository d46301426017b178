package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxBody is what one call may upload: the Bot API's 50 MB and room for the
// other parameters.
const maxBody = 52 << 20

// params are the parameters of one call, whatever they were encoded in. Values
// that are JSON objects or arrays are kept as their JSON text.
type params struct {
	values map[string]string
	files  map[string]upload
}

// upload is an uploaded file. The content of one that is too big to be fetched
// again is not kept.
type upload struct {
	name    string
	size    int64
	content []byte
}

// readParams takes parameters from the query and from a urlencoded, multipart
// or JSON body. Where a name occurs twice, the first wins and the query is
// before the body. A body of another type is ignored.
func readParams(r *http.Request) (params, *apiError) {
	p := params{values: map[string]string{}, files: map[string]upload{}}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return p, badRequest("can't parse query")
	}
	p.addAll(query)
	if err := p.readBody(r); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return p, errEntityTooLarge
		}
		return p, badRequest("can't parse request body: %v", err)
	}
	for name, value := range p.values {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return p, badRequest("strings must be encoded in UTF-8")
		}
	}
	return p, nil
}

func (p params) readBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	body := http.MaxBytesReader(nil, r.Body, maxBody)
	if err := p.parseBody(body, r.Header.Get("Content-Type")); err != nil {
		return err
	}
	// Only when a body was read to its end does net/http notice that the client
	// has gone away.
	_, err := io.Copy(io.Discard, body)
	return err
}

func (p params) parseBody(body io.Reader, contentType string) error {
	mediaType, options, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil //nolint:nilerr // a body of no known type has no parameters
	}
	switch mediaType {
	case "application/x-www-form-urlencoded":
		return p.readForm(body)
	case "multipart/form-data":
		return p.readMultipart(multipart.NewReader(body, options["boundary"]))
	case "application/json":
		return p.readJSON(body)
	default:
		return nil
	}
}

func (p params) readForm(body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return errors.New("broken urlencoded form")
	}
	p.addAll(values)
	return nil
}

func (p params) readMultipart(reader *multipart.Reader) error {
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if name, isFile := fileName(part); isFile {
			file, err := readUpload(name, part)
			if err != nil {
				return err
			}
			p.files[part.FormName()] = file
			continue
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		p.add(part.FormName(), string(value))
	}
}

func readUpload(name string, part io.Reader) (upload, error) {
	content, err := io.ReadAll(io.LimitReader(part, maxDownload+1))
	if err != nil {
		return upload{}, err
	}
	if len(content) <= maxDownload {
		return upload{name, int64(len(content)), content}, nil
	}
	rest, err := io.Copy(io.Discard, part)
	return upload{name: name, size: int64(len(content)) + rest}, err
}

// fileName is the name of the file that a part is. What makes it one is that it
// has a name, even an empty one (tdlib, HttpReader.cpp).
func fileName(part *multipart.Part) (name string, isFile bool) {
	_, options, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return "", false
	}
	_, isFile = options["filename"]
	return part.FileName(), isFile
}

func (p params) readJSON(body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if !utf8.Valid(raw) { // encoding/json would mend it
		return errors.New("strings must be encoded in UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return errors.New("a JSON object is expected")
	}
	for name, value := range fields {
		switch {
		case bytes.Equal(value, []byte("null")):
		case value[0] == '"':
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return errors.New("broken JSON string")
			}
			p.add(name, text)
		default:
			p.add(name, string(value))
		}
	}
	return nil
}

func (p params) addAll(values url.Values) {
	for name, list := range values {
		p.add(name, list[0])
	}
}

func (p params) add(name, value string) {
	if _, taken := p.values[name]; !taken {
		p.values[name] = value
	}
}

// integer reads a whole number; a missing one is the given default, and one
// that is none is zero.
func (p params) integer(name string, otherwise int64) int64 {
	if p.values[name] == "" {
		return otherwise
	}
	return looseInteger(p.values[name])
}

// looseInteger reads the whole number at the beginning of a text, zero if there
// is none or it does not fit, as tdlib's to_integer does.
func looseInteger(text string) int64 {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// flag reads a boolean: true, yes and 1 in any case are true.
func (p params) flag(name string) bool {
	switch strings.ToLower(strings.TrimSpace(p.values[name])) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// logged is what the call log keeps: the values, and a line for each file, with
// the names of those that are files.
func (p params) logged() (shown map[string]string, files []string) {
	if len(p.values)+len(p.files) == 0 {
		return nil, nil
	}
	shown = make(map[string]string, len(p.values)+len(p.files))
	maps.Copy(shown, p.values)
	for name, file := range p.files {
		shown[name] = fmt.Sprintf("file %s, %d bytes", file.name, file.size)
		files = append(files, name)
	}
	slices.Sort(files)
	return shown, files
}
