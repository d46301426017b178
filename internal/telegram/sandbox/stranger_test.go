package sandbox

import (
	"net/http"
	"strings"
	"testing"
)

func TestStrangersAreRefused(t *testing.T) {
	r := newRig(t, Options{})
	for _, path := range []string{"/", "/sandbox/stats", token + "sendMessage?chat_id=7&text=x", "/sandbox/chats/7/block"} {
		for name, header := range map[string]http.Header{
			"a foreign name":         {"Host": {"evil.example:8081"}},
			"a name like ours":       {"Host": {"127.0.0.1.evil.example"}},
			"a foreign page":         {"Origin": {"https://evil.example"}},
			"a page without a place": {"Origin": {"null"}},
			"across sites":           {"Sec-Fetch-Site": {"cross-site"}},
			"a link to a method":     {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}},
		} {
			req := request(http.MethodPost, r.url+path, "", "")
			for key, values := range header {
				req.Header.Set(key, values[0])
			}
			if host := header.Get("Host"); host != "" {
				req.Host = host
			}
			answer, err := r.do(req)
			if err != nil {
				t.Fatal(err)
			}
			if answer.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s", path, name, answer.status, answer.body)
			}
		}
	}
	if stats := r.Stats(); stats.Calls != 0 || stats.Delivered != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestFriendsAreNot(t *testing.T) {
	r := newRig(t, Options{})
	r.limit(Limits{})
	port := r.url[strings.LastIndexByte(r.url, ':'):]
	for name, header := range map[string]http.Header{
		"a client":        {},
		"localhost":       {"Host": {"localhost" + port}},
		"IPv6":            {"Host": {"[::1]" + port}},
		"the page":        {"Origin": {r.url}, "Sec-Fetch-Site": {"same-origin"}},
		"a local page":    {"Origin": {"http://localhost:3000"}, "Sec-Fetch-Site": {"same-site"}},
		"the address bar": {"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}},
	} {
		req := request(http.MethodGet, r.url+token+"sendMessage?chat_id=7&text=x", "", "")
		for key, values := range header {
			req.Header.Set(key, values[0])
		}
		if host := header.Get("Host"); host != "" {
			req.Host = host
		}
		answer, err := r.do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		r.accepted(answer, nil)
	}
	link := request(http.MethodGet, r.url+"/", "", "")
	link.Header.Set("Sec-Fetch-Site", "cross-site")
	link.Header.Set("Sec-Fetch-Mode", "navigate")
	link.Header.Set("Sec-Fetch-Dest", "document")
	if answer, err := r.do(link); err != nil || answer.status != http.StatusOK {
		t.Errorf("a link to the page: %v, %d", err, answer.status)
	}
}
