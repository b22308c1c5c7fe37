package resend

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
)

// A CutOff is how a connection ended on which an answer was due. Err is what
// the connection said, nil where it was not ours to ask or said it encrypted.
type CutOff struct{ Err error }

// Error says what happened.
func (e *CutOff) Error() string {
	const text = "the connection broke after the request had been sent"
	if e.Err == nil {
		return text
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns what the connection said, or that an answer was due.
func (e *CutOff) Unwrap() error {
	if e.Err == nil {
		return io.ErrUnexpectedEOF
	}
	return e.Err
}

// An Attempt is one sending of one request. The zero value is ready for
// [Attempt.Watch], and must not be copied after that.
type Attempt struct {
	end        context.CancelCauseFunc
	replayable bool // net/http would send it again

	asked, connected atomic.Bool // for a connection; got one
	sent             atomic.Bool // something of the request may have arrived
	heard            atomic.Bool // something of the answer has
	streams          atomic.Bool // it goes over HTTP/2
	conn             atomic.Pointer[Conn]
}

// Watch returns ctx with the hooks that the attempt watches through. end ends
// the context of the request: it is called with a [CutOff] before net/http can
// send again what it has sent. ours says that every connection is a [Conn].
func (a *Attempt) Watch(ctx context.Context, method string, ours bool, end context.CancelCauseFunc) context.Context {
	a.end = end
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		a.replayable = true // others it sends again only when nothing was written
	}
	trace := &httptrace.ClientTrace{GetConn: a.ask, GotConn: a.connect, GotFirstResponseByte: a.hear}
	if !ours {
		trace.WroteHeaderField, trace.WroteHeaders = a.wroteField, a.wroteHead
	}
	return httptrace.WithClientTrace(ctx, trace)
}

// Asked reports whether the round tripper has said that it wants a connection:
// one that has not tells nothing at all.
func (a *Attempt) Asked() bool { return a.asked.Load() }

// Unsent reports whether no byte of the request was written: a connection was
// asked for and never came.
func (a *Attempt) Unsent() bool { return a.asked.Load() && !a.connected.Load() }

// again reports whether the request would be sent for the second time.
func (a *Attempt) again() bool { return a.replayable && a.sent.Load() && !a.streams.Load() }

func (a *Attempt) ask(string) {
	switch before := a.asked.Swap(true); {
	case a.heard.Swap(false): // what wraps net/http has had an answer, such as 401, and asks again
		a.sent.Store(false)
	case before && a.again():
		a.end(&CutOff{})
	}
}

// connect notes whose connection it is. net/http does not look at the context
// between here and the first byte, so a second connection is closed to keep the
// request from going out.
func (a *Attempt) connect(got httptrace.GotConnInfo) {
	a.connected.Store(true)
	if c, encrypted := got.Conn.(*tls.Conn); encrypted && c.ConnectionState().NegotiatedProtocol == "h2" {
		a.streams.Store(true) // it is used by many, and says what it did not process
		return
	}
	if a.again() {
		a.end(&CutOff{})
		got.Conn.Close()
		return
	}
	if c := connOf(got.Conn); c != nil {
		a.conn.Store(c)
		c.user.Store(a)
	}
}

// hear lets go of the connection: it may lie idle for long, and need not keep
// an attempt alive.
func (a *Attempt) hear() {
	a.heard.Store(true)
	if c := a.conn.Load(); c != nil {
		c.user.CompareAndSwap(a, nil)
	}
}

// wroteField sees HTTP/2 on connections that do not say so.
func (a *Attempt) wroteField(name string, _ []string) {
	if strings.HasPrefix(name, ":") {
		a.streams.Store(true)
	}
}

// wroteHead believes that what is on its way has arrived: of connections that
// are not ours nobody else tells.
func (a *Attempt) wroteHead() {
	if a.conn.Load() == nil {
		a.sent.Store(true)
	}
}

// broke ends the attempt whose connection has broken.
func (a *Attempt) broke(err error) {
	if a.sent.Load() && !a.heard.Load() {
		a.end(&CutOff{err})
	}
}
