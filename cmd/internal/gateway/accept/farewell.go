package accept

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

const (
	// greet is how long a refused caller may take to begin its request before
	// it is answered all the same. HTTP clients do not expect an answer on a
	// connection on which they have asked nothing, and would not read it.
	greet = 50 * time.Millisecond
	// linger is how long it may take to read the answer. Closing a connection
	// with unread bytes on it resets it, and the answer is lost.
	linger = 500 * time.Millisecond
	// mostFarewells is how many refused connections are there at a time. Beyond
	// that they are answered in passing, and may see a reset instead.
	mostFarewells = 1024
)

// farewells are the connections that are being refused.
type farewells struct {
	sync.WaitGroup
	n atomic.Int64
}

// refuse answers a connection and closes it.
func (g *Gate) refuse(c net.Conn, came policy.Instant, over Limit) {
	if g.config.Answer == nil {
		reset(c)
		g.told(came)
		return
	}
	answer := g.config.Answer(over, seconds(g.rate.comeBack(came, over, 0)))
	if g.farewells.n.Add(1) > mostFarewells {
		defer g.farewells.n.Add(-1)
		g.say(c, came, answer, 0)
		c.Close()
		return
	}
	g.farewells.Go(func() {
		defer g.farewells.n.Add(-1)
		defer c.Close()
		g.say(c, came, answer, greet)
		c.SetReadDeadline(time.Now().Add(linger))
		io.Copy(io.Discard, io.LimitReader(c, 1<<20)) // until it closes, too
	})
}

// say writes the answer, after the request has begun to come or the wait is
// over.
func (g *Gate) say(c net.Conn, came policy.Instant, answer []byte, wait time.Duration) {
	c.SetDeadline(time.Now().Add(max(wait, time.Millisecond)))
	if wait > 0 {
		var first [512]byte
		c.Read(first[:])
		c.SetWriteDeadline(time.Now().Add(linger))
	}
	c.Write(answer)
	g.told(came)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

func (g *Gate) told(came policy.Instant) {
	if g.config.Refused != nil {
		g.config.Refused(g.config.Now().Sub(came))
	}
}

// reset closes a connection so that nothing of it stays behind.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

// seconds rounds up: nobody is asked back too soon.
func seconds(d time.Duration) int64 { return int64(span.Add(d, time.Second-1) / time.Second) }
