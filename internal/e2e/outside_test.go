package e2e

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// doctorSays runs the doctor against a Bot API at an address.
func (s *programEnv) doctorSays(address string, settings ...string) string {
	s.t.Helper()
	c := s.command("doctor")
	c.Env = append(append(c.Env, "TELEGRAM_API_URL="+address), settings...)
	out, _ := c.CombinedOutput() // it fails: that is its finding
	return string(out)
}

func TestN6WhatIsWrongWithACertificateIsNamed(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	if out := s.doctorSays(server.URL); !strings.Contains(out, "ca-certificates") {
		t.Errorf("a certificate that nobody here trusts:\n%s", out)
	}
	empty := filepath.Join(s.dir, "none.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.doctorSays(server.URL, "SSL_CERT_FILE="+empty, "SSL_CERT_DIR="+t.TempDir()); !strings.Contains(out, "ca-certificates") {
		t.Errorf("no certificate store:\n%s", out)
	}
	trusted := filepath.Join(s.dir, "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(trusted, text, 0o600); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	if out := s.doctorSays(other, "SSL_CERT_FILE="+trusted); !strings.Contains(out, "the certificate is for another name") {
		t.Errorf("another name:\n%s", out)
	}
	plain := "https" + strings.TrimPrefix(httptestPlain(t), "http")
	if out := s.doctorSays(plain); !strings.Contains(out, "speaks no TLS") {
		t.Errorf("no TLS:\n%s", out)
	}
}

func httptestPlain(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.URL
}

// Whoever stands between us and Telegram may send back what it got, in any way of writing it.
func TestN7AnEchoedTokenIsNowhere(t *testing.T) {
	t.Parallel()
	const key = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	echoes := []string{"no route for /bot123:" + key, "key " + key + " unknown", url.QueryEscape("123:"+key) + " refused",
		percent(key) + " refused", strings.ToLower(key), key[5:25]}
	n := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/sendMessage") {
			fmt.Fprint(w, `{"ok":true,"result":{"id":123,"is_bot":true,"username":"shop_bot"}}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":%q}`, echoes[n%len(echoes)])
		n++
	}))
	t.Cleanup(proxy.Close)
	s := newProgramEnv(t, "NOTIFIER_UPDATES=off", "TELEGRAM_BOT_TOKEN=123:"+key, "TELEGRAM_API_URL="+proxy.URL)
	var all strings.Builder
	for i := range echoes {
		out, err := s.command("message", "send", "--chat", fmt.Sprint(701+i), "--text", "hello").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, _ := s.command("dispatch", "--until-empty").CombinedOutput()
	all.Write(out)
	for i := range echoes {
		out, err := s.command("message", "show", fmt.Sprint(i+1), "--json").CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"state":"dead"`) {
			t.Errorf("message %d: %v\n%s", i+1, err, out)
		}
		all.Write(out)
	}
	for _, file := range []string{s.database(), s.database() + "-wal"} {
		content, _ := os.ReadFile(file) // the second is gone when nobody has it open
		all.Write(content)
	}
	text := strings.ToLower(all.String())
	for _, piece := range []string{key, key[5:25], percent(key[:8]), key[:10], key[len(key)-10:]} {
		if strings.Contains(text, strings.ToLower(piece)) {
			t.Errorf("%q is in the output or the database", piece)
		}
	}
}

func percent(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02X", text[i])
	}
	return b.String()
}
