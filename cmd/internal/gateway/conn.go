package gateway

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/kalan-go/kalan/cmd/internal/gateway/frame"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
)

// A conn is one client's connection. It remembers who is at the other end, and
// reads along for requests that are framed in two ways.
type conn struct {
	net.Conn       // below, or TLS over it
	below    *pace // what is written to in the end
	peer     *wire.Peer
	scanner  frame.Scanner // told by whoever reads; net/http reads one at a time
	bad      atomic.Uint64 // number of the first request that must not be served
	served   uint64        // requests so far; they are served one after the other
	left     func()        // hears, once, that it is closed
	closed   atomic.Bool
	torn     atomic.Bool  // closed without TLS's own goodbye
	cut      *atomic.Bool // the gateway leaves and waits no longer
}

func (c *conn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.left()
	}
	if c.cut.Load() {
		c.reset()
	}
	if c.torn.Load() {
		return c.below.Close()
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
	c.torn.Store(true)
	c.below.reset()
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
			return l.g.welcome(c, peer), nil
		}
	}
}

// welcome makes a conn of one that was let in.
func (g *Gateway) welcome(c net.Conn, peer *wire.Peer) net.Conn {
	below := &pace{Conn: c, stall: g.file.Accept.Stall}
	below.setBuffer(g.file.Accept.Buffer)
	plain := &conn{Conn: below, below: below, peer: peer, left: g.gate.Leave, cut: &g.cut}
	if g.secrecy == nil {
		return plain
	}
	return g.secrecy.over(plain)
}

// remember puts the connection into the contexts of its requests.
func remember(ctx context.Context, c net.Conn) context.Context {
	if s, ok := c.(*secret); ok {
		c = s.conn
	}
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the request's connection, nil when another server serves.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}
