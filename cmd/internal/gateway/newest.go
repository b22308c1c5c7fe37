package gateway

import (
	"net"
	"slices"
	"sync"
)

// newest keeps open the connections that came last. A probe that comes is
// served, whoever holds the others; one that refused newcomers would let the
// first that opens enough of them keep every probe out.
type newest struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*lasting // the oldest first
}

// mostAdmin is how many connections the admin listener keeps: more than there
// are probes and scrapers, and nothing against the open files of a process.
const mostAdmin = 64

func (l *newest) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	came := &lasting{Conn: c, in: l}
	if oldest := l.admit(came); oldest != nil {
		oldest.Close()
	}
	return came, nil
}

// admit returns which connection has to go for it.
func (l *newest) admit(c *lasting) (oldest *lasting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		oldest = l.open[0]
	}
	l.open = append(l.open, c)
	return oldest
}

func (l *newest) forget(c *lasting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.open, c); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
	}
}

// A lasting connection is there until it is closed.
type lasting struct {
	net.Conn
	in *newest
}

func (c *lasting) Close() error {
	c.in.forget(c)
	return c.Conn.Close()
}

// CloseWrite lets net/http say goodbye before it closes.
func (c *lasting) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
