package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // a foreign program writes too
)

// doctorEnv is a programEnv whose settings are in .env, with a proxy before the sandbox that can
// refuse a token and has another time.
type doctorEnv struct {
	*programEnv
	refused atomic.Pointer[string]
	stdin   string // what a person answers
}

func newDoctorEnv(t *testing.T) *doctorEnv {
	t.Helper()
	w := &doctorEnv{programEnv: newProgramEnv(t)}
	var kept []string
	for _, pair := range w.settings {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "TELEGRAM_BOT_TOKEN":
		case "TELEGRAM_API_URL":
			kept = append(kept, name+"="+w.stand(value))
		case "PATH":
			kept = append(kept, "PATH="+filepath.Dir(w.program)+":"+w.tools()+":"+value)
		default:
			kept = append(kept, pair)
		}
	}
	w.settings = kept
	w.dotenv("TELEGRAM_BOT_TOKEN=123:token\nNOTIFIER_STAFF_CHAT_ID=500\n")
	editor := filepath.Join(t.TempDir(), "editor") // of a person who takes away what is wrong
	const script = "#!/bin/sh\nsed -i -E '/^NOTIFIER_(LISTN|RATE_BOT)=/d' \"$1\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	w.settings = append(w.settings, "EDITOR="+editor)
	return w
}

// stand puts somebody in front of the sandbox.
func (w *doctorEnv) stand(sandbox string) string {
	target, err := url.Parse(sandbox)
	if err != nil {
		w.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if _, err := os.Stat(filepath.Join(w.dir, "fast")); err == nil {
			r.Header.Set("Date", time.Now().AddDate(-1, 0, 0).UTC().Format(http.TimeFormat))
		}
		return nil
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if token := w.refused.Load(); token != nil && strings.Contains(r.URL.Path, "/bot"+*token+"/") {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusUnauthorized)
			_, _ = rw.Write([]byte(`{"ok":false,"error_code":401,"description":"Unauthorized"}`))
			return
		}
		proxy.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(s.Close)
	return s.URL
}

// tools are programs of the system that a test cannot really run.
func (w *doctorEnv) tools() string {
	dir := w.t.TempDir()
	script := "#!/bin/sh\n[ \"$*\" = 'set-ntp true' ] && rm fast\n"
	if err := os.WriteFile(filepath.Join(dir, "timedatectl"), []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		w.t.Fatal(err)
	}
	return dir
}

func (w *doctorEnv) dotenv(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, ".env"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// sh runs a command as a person does, and returns what it printed.
func (w *doctorEnv) sh(command string, must bool) string {
	w.t.Helper()
	c := exec.Command("sh", "-c", command) //nolint:gosec // it is the doctor's
	c.Dir, c.Env, c.Stdin = w.dir, w.settings, strings.NewReader(w.stdin)
	out, err := c.CombinedOutput()
	if err != nil && must {
		w.t.Errorf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

func (w *doctorEnv) sql(statements ...string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", w.database())
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
}

type finding struct {
	Check, Detail, Mend string
	OK                  bool
}

// examine runs the doctor and returns what failed.
func (w *doctorEnv) examine() (failed []finding) {
	w.t.Helper()
	c := w.command("doctor", "--json")
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	err := c.Run()
	var report struct{ Findings []finding }
	if json.Unmarshal(out.Bytes(), &report) != nil || len(report.Findings) == 0 {
		w.t.Fatalf("the doctor says %s%s (%v)", &out, &log, err)
	}
	for _, f := range report.Findings {
		if !f.OK {
			failed = append(failed, f)
		}
	}
	if code := c.ProcessState.ExitCode(); (code == 1) != (len(failed) > 0) || code > 1 {
		w.t.Errorf("exit code %d with %d faults", code, len(failed))
	}
	for _, secret := range []string{"123:token", "opensesame"} {
		if strings.Contains(out.String()+log.String(), secret) {
			w.t.Errorf("%q is in what the doctor says\n%s%s", secret, &out, &log)
		}
	}
	return failed
}

// mend does what the doctor says. A service is started, and ended when it is up.
func (w *doctorEnv) mend(command string) {
	w.t.Helper()
	if args, found := strings.CutPrefix(command, "notifier serve"); found {
		v := w.serve(strings.Fields(args)...)
		if args == "" { // else it is paused
			v.awaitReady()
		}
		if err := v.stop(); err != nil {
			w.t.Errorf("%s: %v\n%s", command, err, v.log)
		}
		return
	}
	w.sh(command, true)
}

// awaitReady waits until the service has heard of Telegram, so that it is well under way.
func (v *service) awaitReady() {
	v.t.Helper()
	for late := time.Now().Add(20 * time.Second); ; {
		_, body, err := v.get("/readyz")
		if err == nil && body["status"] == "ok" {
			return
		}
		if time.Now().After(late) {
			v.t.Fatalf("the service is %v, %v\n%s", body, err, v.log)
		}
		time.Sleep(20 * time.Millisecond) // only asking shows it
	}
}
