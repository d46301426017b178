package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"notifier/internal/telegram/sandbox"
)

func TestOB11AShutdownKeepsWhatWasSentAndWhatWasNot(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	if err := s.sandbox.SetLimits(sandbox.Limits{Latency: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	v := s.serve()
	for i := range 20 {
		if status, _, err := v.post("/messages", "", fmt.Sprintf(`{"chatId":%d,"text":"hello"}`, 600+i)); err != nil || status != 201 {
			t.Fatalf("a message: %d, %v", status, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Calls >= 4 }) // getMe and some messages
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
	if open := s.openCalls(); open != 0 {
		t.Errorf("%d calls were left open", open)
	}
	if err := s.sandbox.SetLimits(sandbox.Limits{}); err != nil {
		t.Fatal(err)
	}
	v = s.serve()
	s.waitUntilNothingWaits(v, time.Minute)
	if n := len(s.sandbox.Messages()); n != 20 {
		t.Errorf("%d were delivered in total", n)
	}
	for id := 1; id <= 20; id++ {
		_, m, err := v.get(fmt.Sprintf("/messages/%d", id))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(m); m["state"] != "sent" || strings.Contains(text, "context canceled") {
			t.Errorf("message %d: %v", id, m)
		}
		if attempts, _ := m["attempts"].([]any); len(attempts) != 1 {
			t.Errorf("message %d had %d attempts", id, len(attempts))
		}
	}
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
}

func TestOB11AServerThatNeverAnswersDoesNotKeepUsFromStopping(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_SEND_TIMEOUT=2s", "NOTIFIER_SHUTDOWN_TIMEOUT=4s")
	if _, err := s.sandbox.AddFault(sandbox.Fault{Respond: sandbox.Respond{Hang: true}}); err != nil {
		t.Fatal(err)
	}
	v := s.serve()
	if status, _, err := v.post("/messages", "", `{"chatId":600,"text":"hello"}`); err != nil || status != 201 {
		t.Fatalf("a message: %d, %v", status, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Calls >= 2 })
	if err := v.stop(); err != nil {
		t.Errorf("the service ended with %v\n%s", err, v.log)
	}
}

func TestOB11ASigtermRightAfterTheStart(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t)
	for range 3 {
		if err := s.serve().stop(); err != nil {
			t.Errorf("the service ended with %v", err)
		}
	}
}

func TestUP9TheServiceStartsWithoutTelegram(t *testing.T) {
	for name, fault := range map[string]sandbox.Respond{
		"hangs": {Hang: true}, "502": {Status: 502, Body: page("<html>502</html>"), ContentType: "text/html"}, "resets": {Drop: sandbox.DropBefore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newProgramEnv(t, "NOTIFIER_SEND_TIMEOUT=2s")
			if _, err := s.sandbox.AddFault(sandbox.Fault{Respond: fault}); err != nil {
				t.Fatal(err)
			}
			v := s.serve()
			for i := range 3 {
				if status, body, err := v.post("/orders", "", order(fmt.Sprint("N-", i), 600+i)); err != nil || status != 201 {
					t.Fatalf("an order: %d %v %v", status, body, err)
				}
			}
			if status, body, err := v.get("/readyz"); err != nil || status != 200 {
				t.Errorf("readyz: %d %v %v", status, body, err)
			}
			s.sandbox.ClearFaults()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			if stats, ok := s.sandbox.WaitStats(ctx, func(st sandbox.Stats) bool { return st.Delivered >= 3 }); !ok {
				t.Errorf("%d of 3 were delivered\n%s", stats.Delivered, v.log)
			}
			if err := v.stop(); err != nil {
				t.Errorf("the service ended with %v", err)
			}
		})
	}
}
