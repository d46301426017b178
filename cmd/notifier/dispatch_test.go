package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// dispatch exits 0 only when nothing is left that is due; else it says why, in one sentence.
func TestDispatchSaysWhyWorkIsLeft(t *testing.T) {
	send := func(c *env, chat string) {
		if code, _, log := c.run("message", "send", "--chat", chat, "--text", "x"); code != 0 {
			t.Fatalf("message send: %d %s", code, log)
		}
	}
	for name, make := range map[string]func() (*env, string){
		"paused": func() (*env, string) {
			c := newEnv(t)
			send(c, "701")
			c.run("pause")
			return c, `work remains for 1 recipient: paused by a person since \S+$`
		},
		"two recipients": func() (*env, string) {
			c := newEnv(t)
			send(c, "701")
			send(c, "702")
			c.run("pause")
			return c, `work remains for 2 recipients: paused`
		},
		"another bot's token": func() (*env, string) {
			c := newEnv(t)
			send(c, "701")
			if code, _, log := c.run("dispatch"); code != 0 {
				t.Fatalf("the first bot: %d %s", code, log)
			}
			send(c, "702")
			c.environ = append(c.environ, "TELEGRAM_BOT_TOKEN=2:test")
			return c, `work remains.*: the database belongs to another bot`
		},
		"token rejected": func() (*env, string) {
			c := newEnv(t)
			send(c, "701")
			c.fault(`{"respond":{"status":401,"description":"Unauthorized"}}`)
			return c, `work remains.*: token rejected`
		},
		"unreachable": func() (*env, string) {
			c := newEnv(t, "TELEGRAM_API_URL=http://127.0.0.1:9")
			send(c, "701")
			return c, `work remains.*: (message 1: It failed|Telegram cannot be reached)`
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, words := make()
			for _, args := range [][]string{{"dispatch"}, {"dispatch", "--until-empty"}} {
				code, out, log := c.run(args...)
				if code != exitWorkLeft || !regexp.MustCompile(`(?m)`+words).MatchString(log) || strings.Contains(log, "the channel") {
					t.Errorf("%v: %d %s%s", args, code, out, log)
				}
				if name == "unreachable" {
					break // how long the next tries take is another matter
				}
			}
		})
	}
}

// --until-empty waits for a message that failed and is tried again soon.
func TestDispatchUntilEmptyWaitsForASecondTry(t *testing.T) {
	c := newEnv(t)
	c.run("message", "send", "--chat", "701", "--text", "x")
	c.fault(`{"method":"sendMessage","times":1,"respond":{"status":500,"description":"Internal Server Error"}}`)
	if code, out, log := c.run("dispatch", "--until-empty"); code != 0 || !strings.Contains(out, "1 sent") {
		t.Errorf("%d %s%s", code, out, log)
	}
}

// fault makes the sandbox misbehave.
func (c *env) fault(body string) {
	c.t.Helper()
	response, err := http.Post(c.boxURL+"/sandbox/faults", "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= 300 {
		c.t.Fatalf("fault: %s", response.Status)
	}
}
