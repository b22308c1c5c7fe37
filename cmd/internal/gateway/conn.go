package gateway

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/frame"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
)

// A conn is one client's connection. It remembers who is at the other end, and
// reads along for requests that are framed in two ways.
type conn struct {
	net.Conn
	peer    *wire.Peer
	scanner frame.Scanner // told by whoever reads; net/http reads one at a time
	bad     atomic.Uint64 // number of the first request that must not be served
	served  uint64        // requests so far; they are served one after the other
	left    func()        // hears, once, that it is closed
	closed  atomic.Bool
	stall   time.Duration // a reader that takes nothing for so long is gone
	writeBy atomic.Pointer[time.Time]
}

func (c *conn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.left()
	}
	return c.Conn.Close()
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.scanner.See(p[:n])
	if bad := c.scanner.Bad(); bad != 0 {
		c.bad.Store(bad)
	}
	return n, err
}

// next counts a request and reports whether it may be served.
func (c *conn) next() bool {
	c.served++
	bad := c.bad.Load()
	return bad == 0 || c.served < bad
}

// reset makes the coming close one that the peer cannot take for the end of an
// answer.
func (c *conn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}

type connKey struct{}

// A listener makes a conn of every connection that is let in.
type listener struct {
	net.Listener
	g *Gateway
}

func (l listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := l.g.trust.Peer(c.RemoteAddr().String())
		if l.g.gate.Admit(c, l.g.teller.Place(peer.Addr), peer.Trusted) {
			admitted := &conn{Conn: c, peer: peer, left: l.g.gate.Leave, stall: l.g.file.Accept.Stall}
			admitted.setBuffer(l.g.file.Accept.Buffer)
			return admitted, nil
		}
	}
}

// remember puts the connection into the contexts of its requests.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the request's connection, nil when another server serves.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}
