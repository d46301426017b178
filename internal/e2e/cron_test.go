package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

// Cron, wake-ups and "send now" overlap while Telegram is slow.
func TestCR1TickAndWakeUpNeverSendTwice(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_DISPATCH_SCHEDULE=@every 1s")
	l := s.sandbox.Limits()
	l.Latency = 500 * time.Millisecond
	if err := s.sandbox.SetLimits(l); err != nil {
		t.Fatal(err)
	}
	v := s.serve()
	const n = 20
	for i := range n {
		if status, answer, err := v.post("/orders", "", order(fmt.Sprint("A-", i), 700+i)); err != nil || status != http.StatusCreated {
			t.Fatalf("%d %v %v", status, answer, err)
		}
		if status, _, err := v.post(fmt.Sprintf("/messages/%d/send-now", i+1), "", "{}"); err != nil || status >= 500 {
			t.Errorf("send now: %d %v", status, err)
		}
	}
	s.must("dispatch")
	s.once(n)
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}

// once waits until n messages were delivered, and fails when a chat got two.
func (s *programEnv) once(n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if stats, ok := s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Delivered >= n && st.OpenCalls == 0 }); !ok {
		s.t.Fatalf("%d of %d were delivered", stats.Delivered, n)
	}
	seen := map[int64]int{}
	for _, call := range s.sandbox.Calls() {
		if call.Method == "sendMessage" {
			seen[call.ChatID]++
		}
	}
	for chat, calls := range seen {
		if calls != 1 {
			s.t.Errorf("%d calls for chat %d", calls, chat)
		}
	}
}

// System cron is the whole sender: each minute's pass may still run when the next begins, and takes
// what customers did first.
func TestCronAloneSendsEverythingOnce(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	l := s.sandbox.Limits()
	l.Latency = 300 * time.Millisecond
	if err := s.sandbox.SetLimits(l); err != nil {
		t.Fatal(err)
	}
	s.must("dispatch") // the bot is known
	const n = 12
	for i := range n {
		s.must("message", "send", "--chat", fmt.Sprint(800+i), "--text", "x")
	}
	if err := s.sandbox.Start(950, ""); err != nil {
		t.Fatal(err)
	}
	var passes []*exec.Cmd
	logs := make([]bytes.Buffer, 4)
	for i := range logs {
		c := s.command("dispatch", "--until-empty")
		c.Stdout, c.Stderr = &logs[i], &logs[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		passes = append(passes, c)
	}
	for i, c := range passes {
		if err := c.Wait(); err != nil {
			t.Errorf("pass %d ended with %v\n%s", i, err, &logs[i])
		}
	}
	s.once(n + 1) // and the answer to the Start
	if got := len(s.sandbox.Messages()); got != n+1 {
		t.Errorf("%d were delivered", got)
	}
}
