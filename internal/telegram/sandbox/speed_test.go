package sandbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkPace makes 2,000 sendMessage calls a second on loopback and reports
// how long they take, the client's half of the work included. A call's time
// counts from the moment it was due, so one that is slow also counts for those
// it holds up. Run it with -benchtime=20000x -cpu=2.
func BenchmarkPace(b *testing.B) { pace(b, 2000, 0) }

// BenchmarkWatched makes 1,000 calls a second while 50 pages are open. Run it
// with -benchtime=10000x -cpu=2.
func BenchmarkWatched(b *testing.B) { pace(b, 1000, 50) }

func pace(b *testing.B, perSecond, watchers int) {
	const clients = 64
	s := New(Options{})
	server := httptest.NewServer(s)
	defer func() { s.Close(); server.Close() }()
	defer watchAll(b, server.URL, watchers)()
	if err := s.SetLimits(Limits{BotPerSecond: 100_000, ChatPerSecond: 1000, ChatBurst: 100}); err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()

	due := make(chan time.Time, b.N)
	times := make([]time.Duration, 0, b.N)
	var mu sync.Mutex // guards times
	var all sync.WaitGroup
	for id := range clients {
		all.Go(func() {
			body := "chat_id=" + strconv.Itoa(id+1) + "&parse_mode=HTML&text=<b>Order</b> A-1001 is on its way"
			for at := range due {
				response, err := client.Post(server.URL+token+"sendMessage", "application/x-www-form-urlencoded", strings.NewReader(body))
				if err != nil {
					b.Error(err)
					continue
				}
				_, _ = io.Copy(io.Discard, response.Body) // or the connection is not used again
				_ = response.Body.Close()
				if response.StatusCode != http.StatusOK {
					b.Errorf("answered %s", response.Status)
				}
				mu.Lock()
				times = append(times, time.Since(at))
				mu.Unlock()
			}
		})
	}
	b.ResetTimer()
	start := time.Now()
	for i := range b.N {
		at := start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
		time.Sleep(time.Until(at))
		due <- at
	}
	close(due)
	all.Wait()
	spent := time.Since(start)
	b.StopTimer()

	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	milliseconds := func(share float64) float64 {
		return float64(times[int(share*float64(len(times)-1))]) / float64(time.Millisecond)
	}
	b.ReportMetric(milliseconds(0.50), "p50-ms")
	b.ReportMetric(milliseconds(0.99), "p99-ms")
	b.ReportMetric(float64(len(times))/spent.Seconds(), "calls/s")
}

// watchAll opens pages and returns what closes them.
func watchAll(b *testing.B, url string, watchers int) func() {
	ctx, cancel := context.WithCancel(b.Context())
	var watching sync.WaitGroup
	for range watchers {
		watching.Go(func() { watch(ctx, url) })
	}
	return func() { cancel(); watching.Wait() }
}

// watch asks for the page's picture again and again, as an open page does.
func watch(ctx context.Context, url string) {
	version := ""
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/sandbox/overview?wait=10s&after="+version, nil)
		if err != nil {
			return
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return
		}
		// A browser reads the picture on a processor of its own; here only the
		// version is, which comes first.
		head := make([]byte, 80)
		n, _ := io.ReadFull(response.Body, head)
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		_, rest, _ := strings.Cut(string(head[:n]), `"version":"`)
		version, _, _ = strings.Cut(rest, `"`)
	}
}

// BenchmarkSearch looks for a text that is nowhere in as many chats as are kept,
// and reports how long a call is held up by that at most.
func BenchmarkSearch(b *testing.B) {
	s := New(Options{})
	defer s.Close()
	if err := s.SetLimits(Limits{}); err != nil {
		b.Fatal(err)
	}
	for i := range 20_000 {
		s.post(1, int64(i+1), "sendMessage", strings.Repeat("x", 200))
	}
	stop := make(chan struct{})
	worst := make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for {
			select {
			case <-stop:
				worst <- longest
				return
			default:
				at := time.Now()
				s.Stats()
				longest = max(longest, time.Since(at))
			}
		}
	}()
	b.ResetTimer()
	for range b.N {
		if found := s.current().search("nowhere"); len(found) != 0 {
			b.Fatal(found)
		}
	}
	b.StopTimer()
	close(stop)
	b.ReportMetric(float64(<-worst)/float64(time.Millisecond), "worst-ms")
}
