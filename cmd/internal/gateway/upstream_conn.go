package gateway

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
)

// An upstreamConn is a connection to an upstream. It reads along for the
// attempt that uses it.
type upstreamConn struct {
	net.Conn
	use atomic.Pointer[use]
}

// A use is one attempt's on one connection.
type use struct {
	nominated *wire.Nominated         // which headers the answer nominates
	fail      context.CancelCauseFunc // ends the attempt
	wrote     atomic.Bool             // something of the request may have arrived
	heard     bool                    // something of the answer has; for Read alone, as fail is
}

// A cutOff is how a connection ended on which an answer was due.
type cutOff struct{ error }

func (e cutOff) Unwrap() error { return e.error }

// watched lets an attempt hear of the connections that it uses, and ends it
// when one breaks off after its request has gone out and before anything has
// come back. http.Transport takes that for a connection that had died idle and
// sends a GET again, on the next that it has kept: a request that kills who
// serves it would reach as many as there are, as one attempt (F20, O-14).
func watched(ctx context.Context, trace *httptrace.ClientTrace, nominated *wire.Nominated) context.Context {
	ctx, fail := context.WithCancelCause(ctx)
	trace.GotConn = func(got httptrace.GotConnInfo) {
		if c, ours := got.Conn.(*upstreamConn); ours {
			c.use.Store(&use{nominated: nominated, fail: fail})
		}
	}
	return httptrace.WithClientTrace(ctx, trace)
}

func (c *upstreamConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	switch u := c.use.Load(); {
	case u == nil:
	case n > 0:
		u.heard, u.fail = true, nil // an idle connection keeps no attempt alive
		u.nominated.See(p[:n])
	case err != nil && !u.heard && u.wrote.Load():
		u.fail(cutOff{err})
	}
	return n, err
}

// Write takes note before it writes: the answer may be there before it returns.
func (c *upstreamConn) Write(p []byte) (int, error) {
	u := c.use.Load()
	if u == nil || u.wrote.Load() {
		return c.Conn.Write(p)
	}
	u.wrote.Store(true)
	n, err := c.Conn.Write(p)
	if n == 0 {
		u.wrote.Store(false) // then it may have another connection
	}
	return n, err
}
