package sandbox

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// Everything at once: the race detector watches, and whatever was delivered
// kept to the limits.
func TestCrowd(t *testing.T) {
	inBubble(t, Options{Seed: 3}, func(r *rig) {
		r.limit(Limits{BotPerSecond: 10, ChatPerSecond: 1, ChatBurst: 2, GroupPerMinute: 20, Hold: 2 * time.Second})
		r.fault(Fault{Method: "sendMessage", Probability: 0.05, Respond: Respond{Drop: DropAfter}})
		r.fault(Fault{Method: "sendMessage", Probability: 0.05, Respond: Respond{Status: 502}})
		patient := &http.Client{Transport: r.client.Transport, Timeout: 20 * time.Second}
		crowd := &rig{r.Sandbox, r.t, r.url, patient}
		var all sync.WaitGroup
		for i := range int64(12) {
			chatID := i - 3 // some groups; 0 is nobody's
			all.Go(func() {
				for range 15 {
					_, _ = crowd.try("sendMessage", fields{"chat_id": chatID, "text": "x"})
					time.Sleep(time.Duration(i) * 50 * time.Millisecond)
				}
			})
			all.Go(func() {
				for range 5 {
					_ = r.Write(chatID, "/start")
					_ = r.Block(chatID)
					time.Sleep(700 * time.Millisecond)
					_ = r.Unblock(chatID)
				}
			})
		}
		all.Go(func() {
			for range 20 {
				_, _ = crowd.try("getUpdates", fields{"timeout": 1})
				r.Calls()
				r.Messages()
				r.Faults()
				crowd.control(http.MethodGet, "/sandbox/overview?wait=1s&q=x", "", 200, nil)
			}
		})
		all.Wait()
		stats := r.Stats()
		if stats.MaxPerSecond > 10 || stats.Delivered != len(r.Messages()) || stats.Calls != len(r.Calls()) || stats.OpenCalls != 0 {
			t.Errorf("%+v", stats)
		}
	})
}
