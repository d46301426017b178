package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// dial opens a connection to the service and sends the beginning of a request.
func (v *service) dial(text string) net.Conn {
	v.t.Helper()
	u, err := url.Parse(v.url)
	if err != nil {
		v.t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		v.t.Fatal(err)
	}
	return c
}

// awaitEnd reads what the service answers until it closes the connection.
func awaitEnd(c net.Conn, within time.Duration) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	answer, err := io.ReadAll(c)
	return string(answer), err
}

// halves are requests whose body never comes, with the status that they get.
var halves = map[string]string{
	"POST /orders":                       "408",
	"GET /orders":                        "408",
	"GET /livez":                         "408",
	"POST /orders/1/status":              "408",
	"POST /nowhere":                      "404",
	"DELETE /orders":                     "405",
	"POST /telegram/webhook":             "404",
	"POST /sender/pause?x=\x01":          "400",
	"POST /orders HTTP/1.1\r\nOrigin: x": "403",
}

func half(start string) string {
	line, header, _ := strings.Cut(start, " HTTP/1.1\r\n")
	if header != "" {
		header += "\r\n"
	}
	return line + " HTTP/1.1\r\nHost: localhost\r\n" + header + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
}

func TestN1ABodyThatNeverComesEndsItsConnection(t *testing.T) {
	t.Parallel()
	v := newProgramEnv(t).serve()
	var all sync.WaitGroup
	for start, status := range halves {
		all.Go(func() {
			began := time.Now()
			answer, err := awaitEnd(v.dial(half(start)), 30*time.Second)
			took := time.Since(began)
			if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+status) || took > 20*time.Second {
				t.Errorf("%q: %v after %v\n%s", start, err, took, answer)
			}
			if status == "408" && took < 14*time.Second {
				t.Errorf("%q: 408 after %v", start, took)
			}
			if status != "408" && took > 5*time.Second {
				t.Errorf("%q: %s came after %v", start, status, took)
			}
		})
	}
	all.Wait()
}

func TestN1AnEndWaitsForNoBody(t *testing.T) {
	t.Parallel()
	v := newProgramEnv(t).serve()
	for start := range halves {
		v.dial(half(start))
	}
	c := v.dial(half("POST /orders"))
	// Another request's answer shows that the service has come to these.
	if status, _, err := v.get("/livez"); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	began := time.Now()
	if err := v.stop(); err != nil || time.Since(began) > 8*time.Second {
		t.Errorf("it ended with %v after %v\n%s", err, time.Since(began), v.log)
	}
	if answer, _ := awaitEnd(c, time.Second); answer != "" && !strings.HasPrefix(answer, "HTTP/1.1 408") {
		t.Errorf("the client was told %s", answer)
	}
}

// trap is a server that notes what it is asked for and answers as it likes.
func trap(t *testing.T, answer http.HandlerFunc) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestN4AlertAndHeartbeatFollowNoRedirect(t *testing.T) {
	t.Parallel()
	elsewhere, stolen := trap(t, func(http.ResponseWriter, *http.Request) {})
	came := make(chan struct{}, 1)
	first, _ := trap(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/landing", http.StatusFound)
		select {
		case came <- struct{}{}:
		default:
		}
	})
	s := newProgramEnv(t, "NOTIFIER_HEARTBEAT_URL="+first+"/secret-beat")
	v := s.serve()
	<-came
	// The next lines of the log say what the heartbeat came to.
	v.awaitLog("the heartbeat address cannot be reached.*302")
	if err := v.stop(); err != nil {
		t.Error(err)
	}
	if n := stolen.Load(); n > 0 {
		t.Errorf("the other host was asked %d times", n)
	}
	if strings.Contains(v.log.String(), "secret-beat") {
		t.Errorf("the address is in the log\n%s", v.log)
	}
}

func TestN5HealthAndDoctorUseNoProxy(t *testing.T) {
	t.Parallel()
	proxy, asked := trap(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	// Go takes no proxy for loopback addresses, but it does for this machine's other ones.
	host := otherAddress(t)
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := newProgramEnv(t, "NOTIFIER_API_KEY=key", "NOTIFIER_LISTEN="+address)
	v := s.serve()
	s.settings = append(s.settings, "HTTP_PROXY="+proxy, "http_proxy="+proxy)
	if out, err := s.command("health").CombinedOutput(); err != nil {
		t.Errorf("health: %v\n%s", err, out)
	}
	out, _ := s.command("doctor").CombinedOutput()
	if !strings.Contains(string(out), "it answers at http://"+address) {
		t.Errorf("doctor:\n%s", out)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
	if err := v.stop(); err != nil {
		t.Error(err)
	}
}

// otherAddress is an address of this machine that is not a loopback one; without any, a loopback one.
func otherAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

func TestN8WithoutAKeyEverySignOfAProxyIsRefused(t *testing.T) {
	t.Parallel()
	v := newProgramEnv(t).serve()
	for _, header := range []string{"Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X-Forwarded: x", "X-Real-IP: 1.2.3.4", "Via: 1.1 proxy",
		"CF-Connecting-IP: 1.2.3.4", "Sec-Fetch-Site: cross-site", "Origin: https://shop.example"} {
		c := v.dial("GET /orders HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n")
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, " 403 ") {
			t.Errorf("%s: %q, %v", header, line, err)
		}
	}
}

func TestN9AWebhookUnderAPathTakesUpdates(t *testing.T) {
	t.Parallel()
	s := newProgramEnv(t, "NOTIFIER_UPDATES=webhook", "NOTIFIER_WEBHOOK_SECRET=opensesame",
		"NOTIFIER_WEBHOOK_URL=https://shop.example/bots/{x}/telegram/webhook")
	v := s.serve()
	for i, path := range []string{"/telegram/webhook", "/bots/%7Bx%7D/telegram/webhook"} {
		update := fmt.Sprintf(`{"update_id":%d,"message":{"message_id":1,"date":1700000000,"chat":{"id":701,"type":"private"},"from":{"id":701},"text":"/help"}}`, i+1)
		r, err := http.NewRequest(http.MethodPost, v.url+path, strings.NewReader(update))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", "opensesame")
		if status, _, err := answerTo(r); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d, %v", path, status, err)
		}
	}
	if status, _, _ := v.get("/bots/y/telegram/webhook"); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	if err := v.stop(); err != nil {
		t.Error(err)
	}
}
