package sandbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// post makes a call without a network.
func (s *Sandbox) post(botID, chatID int64, method, text string) int {
	body := strings.NewReader(fmt.Sprintf("chat_id=%d&text=%s", chatID, text))
	r := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/bot%d:x/%s", botID, method), body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	return answer.Code
}

// act7 makes the customer of chat 7 write, by a request as a person makes it.
func (s *Sandbox) act7(text string) {
	body := strings.NewReader(`{"text":"` + text + `"}`)
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/sandbox/chats/7/message", body))
}

// live is how much memory is in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Whatever comes, what a sandbox keeps stays within half of its memory; the
// other half is the collector's.
func TestMemoryIsBounded(t *testing.T) {
	const memory, flooded = 16 << 20, 12_000
	long := strings.Repeat("x", 4000)
	for name, flood := range map[string]func(*Sandbox, int){
		"messages to many chats": func(s *Sandbox, i int) { s.post(1, int64(i+1), "sendMessage", long) },
		"short messages":         func(s *Sandbox, i int) { s.post(1, int64(i%500+1), "sendMessage", "x") },
		"refused calls":          func(s *Sandbox, i int) { s.post(1, int64(i%500+1), "sendMessage", "") },
		"updates nobody fetches": func(s *Sandbox, i int) { _ = s.Write(int64(i%100+1), long) },
		"customers nobody asked": func(s *Sandbox, i int) { _ = s.Start(int64(i+1), "") },
		"pictures":               func(s *Sandbox, _ int) { _ = s.SharePhoto(7, make([]byte, 50_000), "") },
		"acts":                   func(s *Sandbox, _ int) { s.act7(long) },
		"bots":                   func(s *Sandbox, i int) { s.post(int64(i+1), 7, "getMe", "") },
		"presses": func(s *Sandbox, i int) {
			if i == 0 {
				s.post(1, 7, "sendMessage", "x")
			}
			_ = s.Press(7, 1, "data")
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := live()
			s := New(Options{Memory: memory})
			defer s.Close()
			if err := s.SetLimits(Limits{}); err != nil {
				t.Fatal(err)
			}
			s.post(1, 7, "getMe", "")
			for i := range flooded {
				flood(s, i)
			}
			if used := live() - before; used > memory/2 {
				t.Errorf("%d KiB in use", used>>10)
			}
			w := s.current()
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Logf("%d KiB, forgotten %+v", (live()-before)>>10, w.forgotten)
			if (w.forgotten == forgotten{}) && name != "short messages" {
				t.Error("nothing was forgotten")
			}
		})
	}
}

// BenchmarkMemory sends long messages to ever new chats and reports the memory
// of the process in the end. Run it with -benchtime=300000x.
func BenchmarkMemory(b *testing.B) {
	long := strings.Repeat("x", 4000)
	s := New(Options{})
	defer s.Close()
	debug.SetMemoryLimit(defaultMemory) // as the program does
	if err := s.SetLimits(Limits{}); err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		s.post(1, int64(i+1), "sendMessage", long)
	}
	b.StopTimer()
	b.ReportMetric(float64(live())/(1<<20), "live-MiB")
	b.ReportMetric(float64(residentPages(b)*int64(os.Getpagesize()))/(1<<20), "resident-MiB")
}

// residentPages reads the second field of /proc/self/statm, zero where there is
// none.
func residentPages(b *testing.B) int64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	return pages
}
