package gateway

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/certs/mint"
	"github.com/kalan-go/kalan/internal/settings"
)

// A sealed house is one whose listener speaks TLS.
type sealed struct {
	*house
	dir       string
	authority *mint.Authority // of the listener
	clients   *mint.Authority // of those who are believed
}

// seal starts a gateway with TLS. Of the file's TLS block only what is asked of
// clients is taken; a Clients that is not empty stands for the authority.
func seal(t testing.TB, file settings.File) *sealed {
	t.Helper()
	s, file := certify(t, file)
	s.house = open(t, file)
	s.client.Transport.(*http.Transport).TLSClientConfig = s.trusts()
	return s
}

// certify writes the certificates of a house that is not there yet.
func certify(t testing.TB, file settings.File) (*sealed, settings.File) {
	t.Helper()
	s := &sealed{dir: t.TempDir(), authority: mint.New(t, "authority"), clients: mint.New(t, "clients")}
	block := settings.TLS{}
	if file.TLS != nil {
		block = *file.TLS
	}
	certificate, key := s.authority.Issue(t, "first", nil)
	block.Certificate, block.Key = mint.Write(t, s.dir, "a.crt", certificate), mint.Write(t, s.dir, "a.key", key)
	if block.Clients != "" {
		block.Clients = mint.Write(t, s.dir, "clients.crt", s.clients.PEM)
	}
	file.TLS = &block
	return s, file
}

// trusts returns the configuration of a client that believes the listener, and
// shows its own certificate, if it has one, also to those who do not ask for it.
func (s *sealed) trusts(own ...tls.Certificate) *tls.Config {
	c := &tls.Config{RootCAs: s.authority.Pool(), ServerName: "127.0.0.1"}
	if len(own) > 0 {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own[0], nil }
	}
	return c
}

// as returns a client of its own, which keeps sessions and no connections.
func (s *sealed) as(own ...tls.Certificate) *http.Client {
	c := s.trusts(own...)
	c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}, Timeout: patience}
}

// ask sends one request and returns its status, 0 when there is no answer.
func (s *sealed) ask(t testing.TB, c *http.Client) (int, error) {
	t.Helper()
	a, err := c.Get(s.url("/"))
	if err != nil {
		return 0, err
	}
	read(t, a)
	return a.StatusCode, nil
}

// dial connects, and shakes hands if that works.
func (s *sealed) dial(t testing.TB) (*tls.Conn, error) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	secure := tls.Client(c, s.trusts())
	return secure, secure.Handshake()
}

// say sends bytes under TLS and returns what comes back, and how it ended.
func (s *sealed) say(t testing.TB, text string) (string, error) {
	t.Helper()
	c, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	return string(got), err
}

// silent reports whether an error is that of a connection that was closed
// without a word, and not of one on which TLS said no.
func silent(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
