package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// rig is a sandbox and a client of it.
type rig struct {
	*Sandbox
	t      *testing.T
	url    string
	client *http.Client
}

// newRig serves a sandbox on a loopback address.
func newRig(t *testing.T, options Options) *rig {
	t.Helper()
	s := New(options)
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.Close() })
	return &rig{s, t, server.URL, server.Client()}
}

// inBubble runs a test with fake time and in-memory connections.
func inBubble(t *testing.T, options Options, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := New(options)
		transport := s.Transport()
		test(&rig{s, t, "http://sandbox", &http.Client{Transport: transport}})
		transport.CloseIdleConnections()
		s.Close()
	})
}

// reply is an answer of the Bot API.
type reply struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter      json.Number `json:"retry_after"`
		MigrateToChatID int64       `json:"migrate_to_chat_id"`
	} `json:"parameters"`

	status int
	header http.Header
	body   string
}

// fields are parameters or JSON fields.
type fields map[string]any

const token = "/bot123456:AAF-test_token/"

// try makes a Bot API call with JSON parameters.
func (r *rig) try(method string, parameters fields) (reply, error) {
	body, err := json.Marshal(parameters)
	if err != nil {
		return reply{}, err
	}
	request, err := http.NewRequest(http.MethodPost, r.url+token+method, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	return r.do(request)
}

func (r *rig) do(request *http.Request) (reply, error) {
	response, err := r.client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	answer := reply{status: response.StatusCode, header: response.Header, body: string(body)}
	_ = json.Unmarshal(body, &answer) // faults answer with other things than JSON
	return answer, nil
}

// call is try for calls that must be answered.
func (r *rig) call(method string, parameters fields) reply {
	r.t.Helper()
	answer, err := r.try(method, parameters)
	if err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
	return answer
}

// send sends a text that is not important.
func (r *rig) send(chatID int64) reply {
	r.t.Helper()
	return r.call("sendMessage", fields{"chat_id": chatID, "text": "hello"})
}

// refused checks that an answer is a Bot API error in its proper form.
func (r *rig) refused(answer reply, code int, description string) {
	r.t.Helper()
	if answer.OK || answer.status != code || answer.ErrorCode != code || answer.Description != description {
		r.t.Errorf("status %d, answer %s\nwant %d %q", answer.status, answer.body, code, description)
	}
	if got := answer.header.Get("Content-Type"); got != "application/json" {
		r.t.Errorf("Content-Type is %q", got)
	}
}

// accepted checks that a call did what it should and decodes its result.
func (r *rig) accepted(answer reply, result any) {
	r.t.Helper()
	if !answer.OK || answer.status != http.StatusOK {
		r.t.Fatalf("status %d, answer %s; want success", answer.status, answer.body)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			r.t.Fatalf("result %s: %v", answer.Result, err)
		}
	}
}

// control makes a /sandbox request and decodes its answer.
func (r *rig) control(method, path, body string, want int, into any) string {
	r.t.Helper()
	request, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := r.do(request)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	if answer.status != want {
		r.t.Fatalf("%s %s %s: status %d, %s; want %d", method, path, body, answer.status, answer.body, want)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(answer.body), into); err != nil {
			r.t.Fatalf("%s %s: %s: %v", method, path, answer.body, err)
		}
	}
	return answer.body
}

// limit sets limits, starting from none.
func (r *rig) limit(limits Limits) {
	r.t.Helper()
	if err := r.SetLimits(limits); err != nil {
		r.t.Fatal(err)
	}
}
