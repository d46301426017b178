package sandbox

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"notifier/internal/telegram/sandbox/markup"
)

func TestEncodings(t *testing.T) {
	form := url.Values{"chat_id": {"7900000001"}, "text": {"a & <b>ü</b>"}, "parse_mode": {"HTML"}}
	requests := map[string]func(url string) *http.Request{
		"query by GET": func(url string) *http.Request {
			return request(http.MethodGet, url+"?"+form.Encode(), "", "")
		},
		"query by POST without a body": func(url string) *http.Request {
			return request(http.MethodPost, url+"?"+form.Encode(), "", "")
		},
		"urlencoded": func(url string) *http.Request {
			return request(http.MethodPost, url, "application/x-www-form-urlencoded", form.Encode())
		},
		"json": func(url string) *http.Request {
			return request(http.MethodPost, url, "application/json; charset=utf-8",
				`{"chat_id":7900000001,"text":"a & <b>ü</b>","parse_mode":"HTML","reply_markup":null}`)
		},
		"json with chat_id as string": func(url string) *http.Request {
			return request(http.MethodPost, url, "application/json",
				`{"chat_id":"7900000001","text":"a & <b>\u00fc</b>","parse_mode":"html"}`)
		},
		"multipart": func(url string) *http.Request {
			var body bytes.Buffer
			writer := multipart.NewWriter(&body)
			for name, values := range form {
				_ = writer.WriteField(name, values[0])
			}
			_ = writer.Close()
			return request(http.MethodPost, url, writer.FormDataContentType(), body.String())
		},
		"query before body": func(url string) *http.Request {
			return request(http.MethodPost, url+"?chat_id=7900000001&text=a+%26+%3Cb%3E%C3%BC%3C/b%3E",
				"application/json", `{"chat_id":1,"text":"other","parse_mode":"HTML"}`)
		},
	}
	for name, build := range requests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			answer, err := r.do(build(r.url + token + "sendMessage"))
			if err != nil {
				t.Fatal(err)
			}
			var result messageObject
			r.accepted(answer, &result)
			if result.Text != "a & ü" || result.Chat.ID != 7900000001 {
				t.Errorf("delivered %+v", result)
			}
			if diff := cmp.Diff([]markup.Entity{{Type: "bold", Offset: 4, Length: 1}}, result.Entities); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func request(method, url, contentType, body string) *http.Request {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func TestPaths(t *testing.T) {
	r := newRig(t, Options{})
	for _, path := range []string{
		"/bot123:abc/getMe", "/bot123:abc/GETME", "/bot123:abc/getme", "/bot123:abc/test/getMe",
		"/bot123:abc/?method=getMe", "/bot123:_-/getMe",
	} {
		answer, err := r.do(request(http.MethodGet, r.url+path, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		var me user
		r.accepted(answer, &me)
		want := user{ID: 123, IsBot: true, FirstName: "Sandbox 123", Username: "sandbox_123_bot"}
		if me != want {
			t.Errorf("%s: %+v", path, me)
		}
	}
	for _, path := range []string{
		"/bot", "/bot123/getMe", "/bot:abc/getMe", "/bot123:/getMe", "/bot12x:abc/getMe",
		"/bot123:a+b/getMe", "/bot-1:abc/getMe", "/bot123:abc", "/bot9999999999999999999:abc/getMe",
		"/getMe", "/nothing", "/sandboxes",
	} {
		answer, err := r.do(request(http.MethodGet, r.url+path, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		if path != "/sandboxes" {
			r.refused(answer, 404, "Not Found")
		}
	}
	for _, path := range []string{"/bot123:abc/sendPigeon", "/bot123:abc/", "/bot123:abc/getMe/x"} {
		answer, err := r.do(request(http.MethodPost, r.url+path, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(answer, 404, "Not Found: method not found")
	}
	answer, err := r.do(request(http.MethodPut, r.url+"/bot123:abc/getMe", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	r.refused(answer, 405, "Method Not Allowed")
}

func TestBrokenParameters(t *testing.T) {
	r := newRig(t, Options{})
	for name, c := range map[string]struct{ contentType, body string }{
		"cut json":        {"application/json", `{"chat_id":1,`},
		"json array":      {"application/json", `[1]`},
		"cut multipart":   {"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb"},
		"broken form":     {"application/x-www-form-urlencoded", "a=%zz"},
		"latin-1 in json": {"application/json", "{\"chat_id\":1,\"text\":\"\xfc\"}"},
		"latin-1 in form": {"application/x-www-form-urlencoded", "chat_id=1&text=%fc"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := r.do(request(http.MethodPost, r.url+token+"sendMessage", c.contentType, c.body))
			if err != nil {
				t.Fatal(err)
			}
			if answer.ErrorCode != 400 || !strings.HasPrefix(answer.Description, "Bad Request: ") {
				t.Errorf("%d %s", answer.status, answer.body)
			}
		})
	}
	if n := len(r.Messages()); n != 0 {
		t.Errorf("%d messages were delivered", n)
	}
}

func TestEveryAnswerHasADate(t *testing.T) {
	r := newRig(t, Options{})
	if _, err := http.ParseTime(r.call("getMe", nil).header.Get("Date")); err != nil {
		t.Error(err)
	}
}
