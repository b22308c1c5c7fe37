package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Clients that take their answers, or send their requests, a byte at a time
// hold a slot of the upstream for as long as they like, when no deadline ends
// it (F11). Here every pause of theirs has one.

// A pace is a client's connection below everything that is spoken on it: it
// writes as long as the reader takes something from time to time. It lies below
// TLS, since a write of TLS that a deadline has ended cannot be taken up again.
type pace struct {
	net.Conn
	stall   time.Duration // a reader that takes nothing for so long is gone
	writeBy atomic.Pointer[time.Time]
	ending  atomic.Bool // what is still to be said has no time
	broken  atomic.Bool // a write has failed
}

// goodbye is how long the last words of TLS may take. A reader that has left no
// room for them does not miss them, and whoever closes all connections waits for
// one after the other.
const goodbye = 100 * time.Millisecond

// reset makes the coming close a reset.
func (c *pace) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}

// setBuffer bounds what may lie unread in the connection's write buffer: beyond
// that, writing waits for the reader.
func (c *pace) setBuffer(bytes int) {
	if tcp, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		tcp.SetWriteBuffer(bytes)
	}
}

// SetWriteDeadline limits writing, beside the limit on each pause.
func (c *pace) SetWriteDeadline(t time.Time) error {
	if last := time.Now().Add(goodbye); c.ending.Load() && last.Before(t) {
		t = last
	}
	c.writeBy.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline limits both.
func (c *pace) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Write writes as long as the reader takes something from time to time. When it
// has failed nothing is written any more: the last words of TLS, which come all
// the same, would be taken for the rest of what is missing, or for a forgery.
func (c *pace) Write(p []byte) (written int, err error) {
	if c.broken.Load() {
		return 0, io.ErrClosedPipe
	}
	for {
		limited := c.beginWrite()
		n, err := c.Conn.Write(p[written:])
		written += n
		if n == 0 || !limited || !errors.Is(err, os.ErrDeadlineExceeded) {
			c.broken.Store(err != nil)
			return written, err
		}
	}
}

// beginWrite sets the deadline of a write: when the reader has stalled, or when
// the time of the answer is up. It reports which: true for a stall.
func (c *pace) beginWrite() (limited bool) {
	by := c.writeBy.Load()
	stalled := time.Now().Add(c.stall)
	if by != nil && !by.IsZero() && by.Before(stalled) {
		return false // it has been set, and may have passed
	}
	c.Conn.SetWriteDeadline(stalled)
	if now := c.writeBy.Load(); now != by { // somebody has set it in between
		c.Conn.SetWriteDeadline(*now)
		return false
	}
	return true
}

// A sender is the body of a request whose client may pause, but not for long.
type sender struct {
	io.ReadCloser
	x       *exchange
	stalled atomic.Bool
	due     atomic.Int64          // on the gateway's clock: when a read that waits has waited too long; 0: none does
	grace   atomic.Pointer[grace] // of the attempt that reads; nil before the first
}

func (s *sender) Read(p []byte) (int, error) {
	by := time.Now().Add(s.x.g.file.Accept.Stall)
	if d := s.x.deadline; !d.IsZero() && d.Before(by) {
		by = d
	} else {
		s.due.Store(int64(s.x.g.now() + s.x.g.file.Accept.Stall))
		defer s.due.Store(0)
	}
	if !s.x.readPause(by) {
		return 0, os.ErrDeadlineExceeded
	}
	if p := s.grace.Load(); p != nil {
		p.begin()
		defer p.end()
	}
	n, err := s.ReadCloser.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && !by.Equal(s.x.deadline) {
		s.stalled.Store(true)
	}
	return n, err
}

// hasStalled is true already when the read's limit has passed and it has not
// returned: net/http ends the request's context first, as if its client had
// left.
func (s *sender) hasStalled() bool {
	due := time.Duration(s.due.Load())
	return s.stalled.Load() || due > 0 && s.x.g.now() >= due
}

// readPause limits the next pause of the sender, and reports whether anything
// is still to be read.
func (x *exchange) readPause(by time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.quit {
		return false
	}
	if l, ok := x.w.(canLimitReads); ok {
		l.SetReadDeadline(by)
	}
	return true
}

// hasStalled reports whether the request's body stopped coming.
func (x *exchange) hasStalled() bool { return x.sender != nil && x.sender.hasStalled() }

// stalled is the answer to that.
func stalled() *problem {
	return wrong(http.StatusRequestTimeout, "the request's body has stopped coming; send it without long pauses").andClose()
}
