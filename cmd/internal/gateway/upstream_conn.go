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

// A use is one attempt's on one connection. An idle connection keeps its last,
// and with it nothing else of the attempt.
type use struct {
	nominated *wire.Nominated // which headers the answer nominates
	wrote     atomic.Bool     // something of the request may have arrived
	heard     bool            // something of the answer has; for Read alone, as cut is
	cut       error           // how the connection ended before that
}

// A cutOff is how a connection ended on which an answer was due.
type cutOff struct{ error }

func (e cutOff) Unwrap() error { return e.error }

// A tracedContext is an attempt's context with the hooks of its request. What
// asks for a value on the hot path asks for the hooks, so they come first: the
// chain of the server's contexts behind is long.
type tracedContext struct {
	context.Context
	trace httptrace.ClientTrace
	hooks context.Context // holds the trace alone
	early int             // how long the informational answers were so far
}

func (t *tracedContext) Value(key any) any {
	if v := t.hooks.Value(key); v != nil {
		return v
	}
	return t.Context.Value(key)
}

// watch lets the attempt hear of the connections that it uses.
func (t *tracedContext) watch(nominated *wire.Nominated) {
	t.trace.GotConn = func(got httptrace.GotConnInfo) {
		if c, ours := got.Conn.(*upstreamConn); ours {
			c.use.Store(&use{nominated: nominated})
		}
	}
	t.hooks = httptrace.WithClientTrace(context.Background(), &t.trace)
}

func (c *upstreamConn) Read(p []byte) (int, error) {
	u := c.use.Load()
	if u != nil && u.cut != nil {
		return 0, u.cut
	}
	n, err := c.Conn.Read(p)
	switch u = c.use.Load(); {
	case u == nil:
	case n > 0:
		u.heard = true
		u.nominated.See(p[:n])
	case err != nil && !u.heard && u.wrote.Load():
		return u.breakOff(p, err)
	}
	return n, err
}

// breakOff lets a connection that ends after its request has gone out, and
// before anything has come back, end one byte later: within the answer. Else
// http.Transport takes it for one that had died idle and sends a GET again, on
// the next that it has kept: a request that kills who serves it would reach as
// many as there are, as one attempt (F20, O-14).
func (u *use) breakOff(p []byte, err error) (int, error) {
	u.heard, u.cut = true, cutOff{err}
	return copy(p, "H"), nil
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
