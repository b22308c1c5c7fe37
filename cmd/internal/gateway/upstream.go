package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/settings"
)

// An upstream is one dependency with its guard and its connections.
type upstream struct {
	name      string
	config    settings.Upstream
	guard     *kalan.Guard
	transport *http.Transport
	pool      pool
	usual     bool // nobody has said which answers are failures
	meters    meters
}

// Limits on what an upstream may send and keep open.
const (
	mostAnswerHeaders = 64 << 10
	mostIdle          = 1024
	idleFor           = 30 * time.Second // below what servers usually keep, so that few die under a request
	continueAfter     = time.Second      // at most
)

// usualFailures are the answers that a file which names none gets.
var usualFailures = []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

func newUpstream(c settings.Upstream, now func() time.Duration) (*upstream, error) {
	guard, err := kalan.New(kalan.Config{Name: c.Name, Config: c.Config})
	if err != nil {
		return nil, err
	}
	u := &upstream{name: c.Name, config: c, guard: guard, usual: slices.Equal(c.Failures.Status, usualFailures)}
	u.pool.fill(c.Addresses, now)
	u.transport = u.newTransport()
	return u, nil
}

// newTransport returns the upstream's own connections. There is no limit on
// their number here: the guard's limit is that, and a second queue inside the
// transport would be the wait that nobody sees (F8). Proxies of the
// environment are not asked, bodies not decompressed.
func (u *upstream) newTransport() *http.Transport {
	var onlyHTTP1 http.Protocols
	onlyHTTP1.SetHTTP1(true)
	return &http.Transport{
		DialContext:            u.dial,
		Protocols:              &onlyHTTP1,
		DisableCompression:     true,
		MaxIdleConns:           0,
		MaxIdleConnsPerHost:    mostIdle,
		IdleConnTimeout:        idleFor,
		ExpectContinueTimeout:  u.continueAfter(),
		MaxResponseHeaderBytes: mostAnswerHeaders,
	}
}

// continueAfter is how long the upstream has to ask for a body that waits to be
// asked for. Many never do (RFC 9110, 10.1.1), so it is a small part of what the
// exchange may take, or every request to them with such a body would run out of
// time.
func (u *upstream) continueAfter() time.Duration {
	if exchange := u.config.Exchange; exchange > 0 {
		return min(continueAfter, exchange/8)
	}
	return continueAfter
}

// A dialError is a connection that did not come about: no byte of any request
// was written.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func (u *upstream) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: u.config.Connect, KeepAlive: idleFor}
	c, err := dialer.DialContext(ctx, network, address)
	u.pool.dialed(address, err == nil)
	if err != nil {
		return nil, dialError{err}
	}
	return &upstreamConn{Conn: c}, nil
}

// neverConnected reports whether err says that nothing was written.
func neverConnected(err error) bool {
	var d dialError
	return errors.As(err, &d)
}
