package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// setUp runs setup with the answers of a person, in an environment without a token.
func (c *env) setUp(answers ...string) (code int, out string) {
	c.t.Helper()
	var all bytes.Buffer
	code = run(c.t.Context(), []string{"setup"}, c.environ, strings.NewReader(strings.Join(answers, "\n")+"\n"), &all, &all)
	return code, all.String()
}

func newSetupEnv(t *testing.T) *env {
	c := newEnv(t)
	c.environ = c.environ[1:] // TELEGRAM_BOT_TOKEN
	return c
}

func TestSetupLearnsTheChatAndWritesTheSettings(t *testing.T) {
	c := newSetupEnv(t)
	old := "# mine\nNOTIFIER_LOCALE=ru\nexport TELEGRAM_BOT_TOKEN_FILE=token\nNOTIFIER_STAFF_CHAT_ID=1\n"
	if err := os.WriteFile(".env", []byte(old), 0o644); err != nil { //nolint:gosec // its mode is what is tested
		t.Fatal(err)
	}
	if err := os.WriteFile("token", []byte("1:old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, chat := range []int64{601, 602} {
		if err := c.box.Write(chat, "it is me"); err != nil {
			t.Fatal(err)
		}
	}
	code, out := c.setUp("not a token", "1:opensesame", "yes")
	if code != 0 || !strings.Contains(out, "That is no token") || !strings.Contains(out, "chat 602") {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if strings.Contains(out, "opensesame") {
		t.Errorf("the token is repeated\n%s", out)
	}
	text, err := os.ReadFile(".env")
	want := "# mine\nNOTIFIER_LOCALE=ru\nNOTIFIER_STAFF_CHAT_ID=602\nTELEGRAM_API_URL=" + c.boxURL + "\nTELEGRAM_BOT_TOKEN=1:opensesame\n"
	if err != nil || string(text) != want {
		t.Errorf(".env is\n%s(%v)", text, err)
	}
	if info, err := os.Stat(".env"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if sent := c.box.Messages(); len(sent) != 1 || sent[0].ChatID != 602 {
		t.Errorf("delivered: %+v", sent)
	}
	c.want(0, "ok", "doctor")
	c.want(0, "is placed", "order", "place", "--demo", "--chat", "602")
	c.serve()
	c.delivered(5) // the test, the order, the staff's, and an answer to each who wrote
}

// A stranger's message is not the owner's: the next one is waited for.
func TestSetupAsksWhoseMessageItIs(t *testing.T) {
	c := newSetupEnv(t)
	if err := c.box.Write(666, "hello?"); err != nil {
		t.Fatal(err)
	}
	out, in := newOutput(), make(chan string, 3)
	code := make(chan int, 1)
	go func() { code <- run(t.Context(), []string{"setup"}, c.environ, &lineReader{lines: in}, out, out) }()
	in <- "1:test"
	out.find(t, `chat 666\)\. Is that you`)
	in <- "n"
	if err := c.box.Write(-100601, "/start"); err != nil {
		t.Fatal(err)
	}
	out.find(t, `chat -100601\)\. Is that you`)
	in <- "y"
	if got := <-code; got != 0 {
		t.Fatalf("exit code %d\n%s", got, out)
	}
	if text, err := os.ReadFile(".env"); err != nil || !strings.Contains(string(text), "NOTIFIER_STAFF_CHAT_ID=-100601\n") {
		t.Errorf(".env is %s, %v", text, err)
	}
}

// lineReader gives lines when somebody writes them.
type lineReader struct {
	lines <-chan string
	rest  []byte
}

func (r *lineReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		r.rest = []byte(<-r.lines + "\n")
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestSetupGivesUpInWords(t *testing.T) {
	c := newSetupEnv(t)
	if code, out := c.setUp("x", "y", "z"); code != exitFailure || !strings.Contains(out, "@BotFather") {
		t.Errorf("three bad tokens: %d\n%s", code, out)
	}
	if code, out := c.setUp(); code != exitFailure || !strings.Contains(out, "run it in a terminal") && !strings.Contains(out, "no token") {
		t.Errorf("nobody answers: %d\n%s", code, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c.environ = append(c.environ, "TELEGRAM_API_URL=http://"+l.Addr().String())
	if code, out := c.setUp("1:test"); code != exitFailure || !strings.Contains(out, "cannot be reached") {
		t.Errorf("without Telegram: %d\n%s", code, out)
	}
	if _, err := os.Stat(".env"); err == nil {
		t.Error(".env was written")
	}
}

// The end of a run is noticed while nobody answers.
func TestSetupEndsWhileItWaits(t *testing.T) {
	c := newSetupEnv(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	out, in := newOutput(), make(chan string, 1)
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"setup"}, c.environ, &lineReader{lines: in}, out, out) }()
	out.find(t, "The bot's token")
	cancel()
	if got := <-code; got == 0 {
		t.Error("it ended well")
	}
	close(in)
}
