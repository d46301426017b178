package sandbox

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// Transport returns an HTTP transport that reaches the sandbox through
// in-memory connections, whatever host an http URL names. Both ends are
// net/http's own, so resets, time-outs and reuse of connections are as on a
// network; but nothing leaves the process, so it works inside a
// testing/synctest bubble, if New and Transport are called inside it. Close
// ends its server and connections.
func (s *Sandbox) Transport() *http.Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipes == nil {
		s.pipes = servePipes(s)
		if s.closed {
			s.pipes.close()
		}
	}
	return &http.Transport{DialContext: s.pipes.dial}
}

// pipeServer is an HTTP server on in-memory connections. It is the listener of
// that server, too.
type pipeServer struct {
	server http.Server
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
	dials  atomic.Uint64
	served chan struct{} // closed when the server has returned
}

func servePipes(handler http.Handler) *pipeServer {
	p := &pipeServer{
		dialed: make(chan net.Conn),
		closed: make(chan struct{}),
		served: make(chan struct{}),
	}
	p.server.Handler = handler
	go func() {
		defer close(p.served)
		_ = p.server.Serve(p) // it only ends by close
	}()
	return p
}

func (p *pipeServer) close() {
	_ = p.server.Close()
	<-p.served
}

func (p *pipeServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.dialed <- pipeConn{server, pipeAddr(p.dials.Add(1))}:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept is part of net.Listener.
func (p *pipeServer) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close is part of net.Listener.
func (p *pipeServer) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is part of net.Listener.
func (p *pipeServer) Addr() net.Addr { return pipeAddr(0) }

// pipeConn is the server's end of a connection. Its address tells it from the
// others.
type pipeConn struct {
	net.Conn
	remote pipeAddr
}

func (c pipeConn) RemoteAddr() net.Addr { return c.remote }

// pipeAddr counts the connections from one.
type pipeAddr uint64

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return "pipe:" + strconv.FormatUint(uint64(a), 10) }

var _ net.Listener = (*pipeServer)(nil)
