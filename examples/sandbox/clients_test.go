package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Public clients, unmodified, do what they do with Telegram: each sends, edits,
// answers, sends an album, deletes, meets a 429 and a block, polls, gets a webhook
// and meets a 409.
func TestNodeClients(t *testing.T) {
	needs(t, "node", "apt-get install nodejs, version 20 or later")
	if _, err := os.Stat("testdata/node/node_modules/telegraf"); err != nil {
		t.Skip("the clients are missing: npm ci in examples/sandbox/testdata/node")
	}
	for _, name := range []string{"telegraf", "node-telegram-bot-api", "gramio", "puregram", "grammy"} {
		t.Run(name, func(t *testing.T) {
			run(t, "is content", []string{"SANDBOX_URL=" + newSandbox(t)}, "node", "testdata/node/"+name+".mjs")
		})
	}
}

// Throttlers keep the pace, and the sandbox accuses none of them.
func TestThrottlers(t *testing.T) {
	needs(t, "node", "apt-get install nodejs, version 20 or later")
	if _, err := os.Stat("testdata/node/node_modules/telegraf-throttler"); err != nil {
		t.Skip("the throttlers are missing: npm ci in examples/sandbox/testdata/node")
	}
	run(t, "the throttlers are content", []string{"SANDBOX_URL=" + newSandbox(t)}, "node", "testdata/node/throttlers.mjs")
}

// The Go clients are a module of their own, so that this one needs none of them.
func TestGoClients(t *testing.T) {
	program := filepath.Join(t.TempDir(), "clients")
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	list.Dir = "testdata/go"
	if output, err := list.CombinedOutput(); err != nil {
		t.Skipf("the clients are missing: go mod download in examples/sandbox/testdata/go\n%s", output)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "testdata/go"
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, name := range []string{"telego", "telego's RetryCaller", "telegram-bot-api", "telebot", "telebot v3", "go-telegram"} {
		t.Run(name, func(t *testing.T) {
			run(t, name+" is content", []string{"SANDBOX_URL=" + newSandbox(t)}, program, name)
		})
	}
}

func TestPythonTelegramBot(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's own, which finds Debian's packages
	if err := exec.CommandContext(t.Context(), python, "-c", "import telegram.ext").Run(); err != nil {
		t.Skip("python-telegram-bot is missing: apt-get install python3-python-telegram-bot")
	}
	run(t, "python-telegram-bot is content", []string{"SANDBOX_URL=" + newSandbox(t)}, python, "testdata/python/ptb.py")
}

// The helpers for test frameworks start the program and work.
func TestFrameworkHelpers(t *testing.T) {
	for name, c := range map[string]struct {
		needs   []string // a command that tells whether the framework is there
		folder  string
		command []string
		says    string
	}{
		"pytest": {[]string{"/usr/bin/python3", "-m", "pytest", "--version"}, "pytest",
			[]string{"/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"}, "1 passed"},
		"node":    {[]string{"node", "--version"}, "jest", []string{"node", "--test"}, "# pass 1"},
		"PHPUnit": {[]string{"phpunit", "--version"}, "phpunit", []string{"phpunit", "--do-not-cache-result", "GreetingTest.php"}, "OK (1 test"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := exec.CommandContext(t.Context(), c.needs[0], c.needs[1:]...).Run(); err != nil {
				t.Skipf("%s is missing", name)
			}
			program := exec.CommandContext(t.Context(), c.command[0], c.command[1:]...)
			program.Dir = c.folder
			program.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1",
				"PATH="+notifierVerb(t, newSandbox(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
			output, err := program.CombinedOutput()
			if err != nil || !strings.Contains(string(output), c.says) {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}
