package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// put writes a file beside the program.
func (s *programEnv) put(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// set replaces settings.
func (s *programEnv) set(pairs ...string) {
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		var kept []string
		for _, known := range s.settings {
			if !strings.HasPrefix(known, name+"=") {
				kept = append(kept, known)
			}
		}
		if s.settings = kept; value != "" {
			s.settings = append(s.settings, pair)
		}
	}
}

// bannerOf starts the service, ends it, and returns what it said first.
func (s *programEnv) bannerOf(args ...string) string {
	s.t.Helper()
	v := s.serve(args...)
	if err := v.stop(); err != nil {
		s.t.Errorf("it ended with %v\n%s", err, v.log)
	}
	return v.banner.String()
}

func TestP9TheBannerTellsTheTruthAboutAnotherBotsDatabase(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	if out, err := s.command("dispatch").CombinedOutput(); err != nil { // the tour, with its bot
		t.Fatalf("%v\n%s", err, out)
	}
	for _, chat := range []string{"701", "702"} {
		if out, err := s.command("message", "send", "--chat", chat, "--text", "from the tour").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.set("TELEGRAM_BOT_TOKEN=124:real")
	if said := s.bannerOf(); !strings.Contains(said, "sender    stopped") || !strings.Contains(said, "--accept-new-bot") {
		t.Errorf("the banner says\n%s", said)
	}
	said := s.bannerOf("--accept-new-bot")
	if !strings.Contains(said, "sender    paused") || !strings.Contains(said, "messages that wait: 2") || !strings.Contains(said, "notifier resume") {
		t.Errorf("after accepting it says\n%s", said)
	}
	// With the same bot again there is nothing to accept, and nothing is paused by it.
	if out, err := s.command("resume").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if said := s.bannerOf("--accept-new-bot"); !strings.Contains(said, "sender    running") {
		t.Errorf("with the bot it knows it says\n%s", said)
	}
}

// The README's tour keeps its orders in a file of its own.
func TestP9TheTourHasADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(readme)) {
		if strings.Contains(line, "TELEGRAM_BOT_TOKEN=1:demo") && !strings.Contains(line, "DATABASE_URL=tour.db") {
			t.Errorf("the tour runs as %s", line)
		}
	}
}

func TestP10TheDoctorsRemediesAreSafeToType(t *testing.T) {
	t.Parallel()
	w := newDoctorEnv(t)
	w.set("TELEGRAM_API_URL=")
	const text = "TELEGRAM_BOT_TOKEN=123:token\nTELEGRAM_API_URL=http://127.0.0.1:9\nNOTIFIER_STAFF_CHAT_ID=500"
	w.dotenv(text)
	failed := w.examine()
	if len(failed) != 1 || failed[0].Check != "Telegram" {
		t.Fatalf("in an outage: %+v", failed)
	}
	w.sh(failed[0].Mend, false) // it shows what stands in the way
	if now := w.sh("cat .env", true); now != text {
		t.Errorf("in an outage %s left\n%s", failed[0].Mend, now)
	}
	// A public address without a key: the remedy makes a key, and the address stays.
	w.set("NOTIFIER_LISTEN=")
	w.dotenv(text + "\nNOTIFIER_LISTEN=0.0.0.0:8099") // without a line break at its end
	failed = w.examine()
	if len(failed) != 1 || failed[0].Check != "settings" {
		t.Fatalf("without a key: %+v", failed)
	}
	w.sh(failed[0].Mend, true)
	now := w.sh("cat .env", true)
	if !strings.Contains(now, "NOTIFIER_LISTEN=0.0.0.0:8099\n") || !strings.Contains(now, "NOTIFIER_API_KEY=") {
		t.Errorf("%s left\n%s", failed[0].Mend, now)
	}
	for _, f := range w.examine() {
		if f.Check == "settings" {
			t.Errorf("after it: %+v", f)
		}
	}
}

func TestP11AForeignWebhookIsNotTakenAwayWithoutAWord(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{nil, {"NOTIFIER_UPDATES=webhook", "NOTIFIER_WEBHOOK_SECRET=opensesame",
		"NOTIFIER_WEBHOOK_URL=http://127.0.0.1:9/telegram/webhook"}} {
		s := newProgramEnv(t, way...)
		foreign := &doctorEnv{programEnv: s}
		foreign.ask("/bot123:token/setWebhook?url=http://127.0.0.1:9/secret-path")
		v := s.serve()
		v.awaitLog("somebody set for this bot is taken away.*host=127.0.0.1")
		if err := v.stop(); err != nil {
			t.Error(err)
		}
		if strings.Contains(v.log.String(), "secret-path") {
			t.Errorf("the path is in the log\n%s", v.log)
		}
		// Ours is no stranger.
		v = s.serve()
		v.awaitStatus("ok")
		if err := v.stop(); err != nil || strings.Contains(v.log.String(), "taken away") {
			t.Errorf("the second start: %v\n%s", err, v.log)
		}
	}
	// setup asks first.
	s := newProgramEnv(t)
	(&doctorEnv{programEnv: s}).ask("/bot123:token/setWebhook?url=http://127.0.0.1:9/secret-path")
	c := s.command("setup")
	c.Stdin = strings.NewReader("123:token\nn\n")
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a webhook is set at 127.0.0.1") || strings.Contains(string(out), "secret-path") {
		t.Errorf("setup: %v\n%s", err, out)
	}
}

// Any verb reads the server's settings file from any folder, and names a file that does not count.
func TestTheServersSettingsAreFoundFromAnyFolder(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	token := "TELEGRAM_BOT_TOKEN=123:token\nNOTIFIER_LOG_LEVEL=warn\n"
	s.put("etc/notifier/notifier.env", token+"NOTIFIER_RATE_CHAT=0.25\n")
	s.put("work/.env", "NOTIFIER_RATE_CHAT=0.75\n")
	s.put("other/.env", "APP_KEY=x\nDATABASE_URL=mysql://shop\n")
	s.put("mine.env", "NOTIFIER_RATE_CHAT=0.125\n")
	s.set("TELEGRAM_BOT_TOKEN=", "DATABASE_URL=")
	show := func(c *exec.Cmd, want string, said ...string) {
		t.Helper()
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "NOTIFIER_RATE_CHAT="+want+"\n") {
			t.Errorf("%v, want %s\n%s", err, want, out)
		}
		for _, words := range said {
			if !strings.Contains(string(out), words) {
				t.Errorf("it does not say %q\n%s", words, out)
			}
		}
	}
	in := func(dir string, c *exec.Cmd) *exec.Cmd {
		c.Dir = filepath.Join(s.dir, dir)
		return c
	}
	show(in("work", s.command("serve", "--print-config")), "0.75")
	show(in("other", s.command("serve", "--print-config")), "1", "other/.env is not read")
	show(in("work", s.command("--env-file", "../mine.env", "serve", "--print-config")), "0.125", "work/.env is not read")
	// The server's own file, with /etc of this machine covered by another.
	server := func(dir, args string) *exec.Cmd {
		return s.unshared(`mount --bind etc /etc && cd ` + dir + ` && exec "$PROGRAM" ` + args)
	}
	show(server("other", "serve --print-config"), "0.25", "DATABASE_URL=/var/lib/notifier/notifier.db", "other/.env is not read: settings are in /etc/notifier/notifier.env")
	show(server("work", "serve --print-config"), "0.25", "work/.env is not read")
	if out, err := server(".", "sender").CombinedOutput(); err == nil || !strings.Contains(string(out), "settings are read from /etc/notifier/notifier.env") {
		t.Errorf("without a database: %v\n%s", err, out)
	}
	if out, err := s.command("--env-file", "nowhere.env", "sender").CombinedOutput(); err == nil || !strings.Contains(string(out), "nowhere.env") {
		t.Errorf("a file that is not there: %v\n%s", err, out)
	}
}

func TestSystemdsCredentialsAreRead(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	s.put("credentials/telegram-bot-token", "123:token\n")
	s.put("credentials/notifier-api-key", "opensesame\n")
	s.set("TELEGRAM_BOT_TOKEN=", "CREDENTIALS_DIRECTORY="+filepath.Join(s.dir, "credentials"))
	v := s.serve()
	if status, _, err := v.get("/orders"); err != nil || status != http.StatusUnauthorized {
		t.Errorf("without the key: %d, %v", status, err)
	}
	if err := v.stop(); err != nil {
		t.Error(err)
	}
}
