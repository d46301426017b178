package telegram

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// countingConn counts the bytes that left through a connection, so that a call which failed on it
// can be told from one that may have arrived. Below TLS it counts encrypted bytes.
type countingConn struct {
	net.Conn
	left atomic.Int64
}

// Write implements net.Conn.
func (c *countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.left.Add(int64(n))
	return n, err
}

func countingDial(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countingConn{Conn: conn}, nil
	}
}

// gauge is the count of a connection at the moment a call got it.
type gauge struct {
	conn *countingConn
	from int64
}

// newGauge finds the counter below a connection; there is none in a transport that is not ours.
func newGauge(conn net.Conn) gauge {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	counting, ok := conn.(*countingConn)
	if !ok {
		return gauge{}
	}
	return gauge{counting, counting.left.Load()}
}

// unmoved says for sure that nothing left since. It is asked when the call is over: by then
// net/http has ended all writing for it (mapRoundTripError waits for that).
func (g gauge) unmoved() bool { return g.conn != nil && g.conn.left.Load() == g.from }
