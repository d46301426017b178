package main

import (
	"strings"
	"testing"
)

// Whether the command line is wrong is told by the exit code, whoever finds it.
func TestBadOptionValuesExit2(t *testing.T) {
	c := newEnv(t)
	if code, _, log := c.run("message", "send", "--chat", "1", "--text", "x"); code != 0 {
		t.Fatalf("%d %s", code, log)
	}
	for _, line := range []string{
		"message list --state foo", "message list --limit 0", "message list --limit 501", "message list --reason foo", "message list --recipient 0",
		"message list --after x", "message send --chat 1 --text x --on-uncertain foo", "message send --chat 1 --text x --not-before tomorrow",
		"message send --chat 1 --type Text --payload {}", "message send --chat 1 --type Txt --payload {}", "message retry --state dead --reason foo",
		"chat list --state foo", "chat list --after x", "chat show 0", "chat release 4503599627370496", "order status 1 lost",
		"order place --from - --number X", "order place --customer c --currency zz --total 1", "order place --customer c --currency EUR --total 1 --key é",
	} {
		code, _, log := c.run(strings.Fields(line)...)
		if code != exitUsage || strings.Contains(log, "/query/") || strings.Contains(log, ": /") {
			t.Errorf("%s: exit %d, %s", line, code, log)
		}
	}
}
