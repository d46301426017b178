package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// deadConn is a kept connection that has died unseen: nothing more can be written to it.
type deadConn struct {
	net.Conn
	dead *atomic.Bool
}

func (c deadConn) Write(b []byte) (int, error) {
	if c.dead.Load() {
		return 0, errors.New("broken pipe")
	}
	return c.Conn.Write(b)
}

// net/http repeats a call on a new connection when the kept one took no byte of it.
func TestFactsOfACallOnADeadConnection(t *testing.T) {
	for _, refused := range []bool{false, true} {
		t.Run(fmt.Sprint("second connection refused: ", refused), func(t *testing.T) {
			var calls, dials atomic.Int32
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				calls.Add(1)
				_, _ = io.WriteString(w, `{"ok":true}`)
			})
			dead := new(atomic.Bool)
			s := ownRecorder(t, func(ctx context.Context, network, address string) (net.Conn, error) {
				if dials.Add(1) > 1 {
					if refused {
						return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
					}
					return defaultDial()(ctx, network, address)
				}
				conn, err := defaultDial()(ctx, network, address)
				return deadConn{conn, dead}, err
			})
			ask(t, s, address)
			dead.Store(true)
			f := ask(t, s, address)
			if refused {
				expect(t, f, Facts{Failure: "network error"})
			} else {
				expect(t, f, Facts{Written: true, Status: 200, Body: []byte(`{"ok":true}`)})
			}
			if want := map[bool]int32{false: 2, true: 1}[refused]; calls.Load() != want {
				t.Errorf("%d calls arrived, want %d", calls.Load(), want)
			}
		})
	}
}

// stuckConn takes nothing until it is closed.
type stuckConn struct {
	net.Conn
	closed chan struct{}
}

func (c stuckConn) Write([]byte) (int, error) { <-c.closed; return 0, net.ErrClosed }

func (c stuckConn) Close() error { close(c.closed); return c.Conn.Close() }

func TestFactsOfACallThatNeverLeftItsConnection(t *testing.T) {
	address := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a call came through") })
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"stuck": func(c net.Conn) net.Conn { return stuckConn{c, make(chan struct{})} },
		"dead": func(c net.Conn) net.Conn {
			dead := new(atomic.Bool)
			dead.Store(true)
			return deadConn{c, dead}
		},
	} {
		s := ownRecorder(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := defaultDial()(ctx, network, address)
			return wrap(conn), err
		})
		if f := askWithin(t, s, address, 50*time.Millisecond); f.Written || f.Status != 0 || f.Failure == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// halfConn takes a few bytes of the second call and then breaks: what left may have arrived.
type halfConn struct {
	net.Conn
	broken *atomic.Bool
}

func (c halfConn) Write(b []byte) (int, error) {
	if c.broken.Load() {
		n, _ := c.Conn.Write(b[:10])
		return n, errors.New("broken pipe")
	}
	return c.Conn.Write(b)
}

func TestACallThatLeftInPartIsNotRepeated(t *testing.T) {
	var dials atomic.Int32
	broken := new(atomic.Bool)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	s := ownRecorder(t, func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		conn, err := defaultDial()(ctx, network, address)
		return halfConn{conn, broken}, err
	})
	ask(t, s, address)
	broken.Store(true)
	f := ask(t, s, address)
	if !f.Written || f.Status != 0 || dials.Load() != 1 {
		t.Errorf("%+v after %d connections", f, dials.Load())
	}
}
