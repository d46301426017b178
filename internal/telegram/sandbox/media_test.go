package sandbox

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// upload makes a multipart call with one file.
func (r *rig) upload(method, part string, size int, parameters map[string]string) reply {
	r.t.Helper()
	var body bytes.Buffer
	writer := multipart.NewWriter(&body)
	for name, value := range parameters {
		_ = writer.WriteField(name, value)
	}
	file, err := writer.CreateFormFile(part, "invoice.pdf")
	if err != nil {
		r.t.Fatal(err)
	}
	_, _ = file.Write(make([]byte, size))
	_ = writer.Close()
	answer, err := r.do(request(http.MethodPost, r.url+token+method, writer.FormDataContentType(), body.String()))
	if err != nil {
		r.t.Fatal(err)
	}
	return answer
}

func TestUploads(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	var sent messageObject
	r.accepted(r.upload("sendDocument", "document", 1000, map[string]string{
		"chat_id": "7", "caption": "<b>Invoice</b>", "parse_mode": "HTML",
	}), &sent)
	if d := sent.Document; d == nil || d.FileName != "invoice.pdf" || d.FileSize != 1000 {
		t.Errorf("%+v", sent)
	}
	if sent.Caption != "Invoice" || len(sent.CaptionEntities) != 1 || sent.Text != "" {
		t.Errorf("%+v", sent)
	}
	if m := r.Messages()[0]; m.Kind != KindDocument || m.VisibleText != "Invoice" {
		t.Errorf("%+v", m)
	}
	r.accepted(r.upload("sendPhoto", "picture", 10, map[string]string{"chat_id": "7", "photo": "attach://picture"}), &sent)
	if len(sent.Photo) != 1 {
		t.Errorf("%+v", sent)
	}
	again := sent.Photo[0].FileID
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": again}), &sent)
	if sent.Photo[0].FileID != again {
		t.Errorf("%+v", sent)
	}
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": "https://shop.example/tea.jpg"}), nil)
	if c := r.Calls()[0]; c.Params["document"] != "file invoice.pdf, 1000 bytes" || len(c.Files) != 1 || c.Files[0] != "document" {
		t.Errorf("%+v", c)
	}
}

func TestUploadRefusals(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	chat := map[string]string{"chat_id": "7"}
	r.refused(r.upload("sendPhoto", "photo", 0, chat), 400, "Bad Request: file must be non-empty")
	r.refused(r.upload("sendPhoto", "photo", maxPhoto+1, chat), 400, "Bad Request: file is too big")
	r.refused(r.upload("sendDocument", "document", maxBody, chat), 413, "Request Entity Too Large")
	for want, parameters := range map[string]fields{
		"there is no photo in the request":         {"chat_id": 7},
		"wrong file identifier/HTTP URL specified": {"chat_id": 7, "photo": "sandbox-file-99"},
		"wrong HTTP URL specified":                 {"chat_id": 7, "photo": "http://localhost/a.jpg"},
		"message caption is too long":              {"chat_id": 7, "photo": "https://a.b/c", "caption": strings.Repeat("ü", 1025)},
		"chat_id is empty":                         {"photo": "https://a.b/c"},
	} {
		r.refused(r.call("sendPhoto", parameters), 400, "Bad Request: "+want)
	}
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": "https://a.b/c", "caption": strings.Repeat("ü", 1024)}), nil)
	if err := r.Restrict(-7); err != nil {
		t.Fatal(err)
	}
	r.refused(r.call("sendDocument", fields{"chat_id": -7, "document": "https://a.b/c"}),
		400, "Bad Request: not enough rights to send documents to the chat")
}

func TestFilesSpendTheLimits(t *testing.T) {
	r := newRig(t, Options{})
	r.accepted(r.call("sendPhoto", fields{"chat_id": 7, "photo": "https://a.b/c"}), nil)
	r.refused(r.send(7), 429, "Too Many Requests: retry after 1")
}

// A part with a file name is a file, even if the name is empty; one without is a
// text.
func TestFileWithoutAName(t *testing.T) {
	r := newRig(t, Options{})
	const boundary = "x"
	body := "--x\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n7\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"\"\r\n\r\n\xff\xd8\xff\r\n--x--\r\n"
	answer, err := r.do(request(http.MethodPost, r.url+token+"sendPhoto", "multipart/form-data; boundary="+boundary, body))
	if err != nil {
		t.Fatal(err)
	}
	r.accepted(answer, nil)
}
