package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan/cmd/internal/certs"
	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
	"github.com/kalan-go/kalan/policy"
)

// A secrecy is the TLS of the listener.
type secrecy struct {
	keeper     *certs.Keeper
	handshakes *accept.Handshakes
	within     time.Duration
	every      time.Duration // how often to look for new certificates
	now        func() policy.Instant
	log        *slog.Logger
	awaited    atomic.Int64 // connections whose hello has not come
	ended      [len(endings)]atomic.Uint64
	took       prometheus.Histogram
}

// encrypt reads the certificates, if the file has any.
func (g *Gateway) encrypt() (err error) {
	if g.file.TLS == nil {
		return nil
	}
	s := &secrecy{
		handshakes: accept.NewHandshakes(*g.file.Accept), within: g.file.Accept.Handshakes.Within, every: lookAtCertificates,
		now: g.instant, log: g.log, took: newHandshakeTimes(),
	}
	s.keeper, err = certs.Open(*g.file.TLS, func(c *tls.Config) { c.GetConfigForClient = heard })
	if err == nil {
		g.secrecy = s
	}
	return err
}

// lookAtCertificates is how often the files are read again. Three small files
// are nothing, and a certificate is renewed days before it expires.
const lookAtCertificates = time.Minute

// renew takes over new certificates, until ctx ends.
func (s *secrecy) renew(ctx context.Context) {
	if s == nil {
		return
	}
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.look()
		}
	}
}

func (s *secrecy) look() {
	switch renewed, err := s.keeper.Look(); {
	case err != nil:
		s.log.Warn("the certificate's files have changed and are not good; the old ones stay in use", "error", err)
	case renewed:
		s.log.Info("new certificate", "expires", s.keeper.Expires())
	}
}

// over returns a connection that begins with a handshake.
func (s *secrecy) over(c *conn) *secret {
	s.awaited.Add(1)
	c.Conn = tls.Server(c.below, s.keeper.Config())
	return &secret{conn: c, of: s}
}

// A secret is a client's connection with TLS. The first that asks anything of it
// shakes hands, which is net/http, on the connection's own goroutine: whoever
// accepts connections waits for nobody.
type secret struct {
	*conn
	of     *secrecy
	shaken bool
	good   bool
	// What follows is about the handshake while it runs.
	heard bool          // its hello
	place *accept.Place // nil: not heard, or over a limit
	began policy.Instant
	late  atomic.Bool // its time is up
}

// ConnectionState shakes hands, if that has not been done, and returns what came
// of it. net/http asks for it once, before everything else, and puts it into the
// requests.
func (s *secret) ConnectionState() tls.ConnectionState {
	s.shake()
	return s.Conn.(*tls.Conn).ConnectionState()
}

// Read reads what is said under TLS. Where there is none it is the end: net/http
// would tell others in the clear what it did not understand.
func (s *secret) Read(p []byte) (int, error) {
	if !s.shake() {
		return 0, io.EOF
	}
	return s.conn.Read(p)
}

// Close says that this is the end, where somebody listens.
func (s *secret) Close() error {
	s.below.ending.Store(true)
	return s.conn.Close()
}

// shake shakes hands, once, and reports whether that went well. It is asked by
// one goroutine at a time.
func (s *secret) shake() bool {
	if s.shaken {
		return s.good
	}
	s.shaken = true
	late := time.AfterFunc(s.of.within, s.isLate)
	defer late.Stop()
	defer s.settle()
	// A context that never ends costs no goroutine.
	err := s.Conn.(*tls.Conn).HandshakeContext(context.WithValue(context.Background(), secretKey{}, s))
	s.good = err == nil
	s.of.end(s, err)
	return s.good
}

// isLate ends the handshake: its time is up, or somebody quicker gets its place.
func (s *secret) isLate() {
	s.late.Store(true)
	s.below.Close()
}

// settle gives back what a handshake held, also when it has ended in a panic.
func (s *secret) settle() {
	switch {
	case s.place != nil:
		s.place.End()
		s.of.took.Observe(s.of.now().Sub(s.began).Seconds())
	case !s.heard:
		s.of.awaited.Add(-1)
	}
}

type secretKey struct{}

// heard decides on a handshake when its hello is there, and nothing has been
// computed for it: no key is made and nothing signed (F4).
func heard(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	s := hello.Context().Value(secretKey{}).(*secret)
	s.of.awaited.Add(-1)
	s.heard, s.began = true, s.of.now()
	place, over, ok := s.of.handshakes.Begin(s.began, s.isLate)
	if !ok {
		s.below.reset() // no alert: it would be told nothing that it understands
		s.below.Close()
		return nil, errors.New("over the limit of " + over.String() + " handshakes")
	}
	s.place = place
	return nil, nil
}
