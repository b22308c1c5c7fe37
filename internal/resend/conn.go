package resend

import (
	"context"
	"io"
	"net"
	"sync/atomic"
)

// A Conn is a connection that reads along for the attempt that uses it.
type Conn struct {
	net.Conn
	user atomic.Pointer[Attempt]
}

// Dialer makes every connection of dial a Conn: for http.Transport.DialContext.
func Dialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &Conn{Conn: c}, nil
	}
}

// connOf returns the Conn that c is, or that it encrypts for; nil if there is
// none.
func connOf(c net.Conn) *Conn {
	for {
		if ours, is := c.(*Conn); is {
			return ours
		}
		outer, wraps := c.(interface{ NetConn() net.Conn })
		if !wraps {
			return nil
		}
		c = outer.NetConn()
	}
}

// attempt returns the attempt that uses the connection, and not one that had to
// take another.
func (c *Conn) attempt() *Attempt {
	if a := c.user.Load(); a != nil && a.conn.Load() == c {
		return a
	}
	return nil
}

// Read tells the attempt when there is nothing more to read, before net/http
// hears of it.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		if a := c.attempt(); a != nil {
			a.broke(err)
		}
	}
	return n, err
}

// Write takes note before it writes: the answer may be there before it returns.
// An attempt of which nothing was written may have another connection.
func (c *Conn) Write(p []byte) (int, error) {
	a := c.attempt()
	if a == nil || a.sent.Swap(true) {
		return c.Conn.Write(p)
	}
	n, err := c.Conn.Write(p)
	a.sent.Store(n > 0)
	return n, err
}

// ReadFrom sends a body, from a file without copying it.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	if a := c.attempt(); a != nil {
		a.sent.Store(true)
	}
	return io.Copy(c.Conn, r)
}
